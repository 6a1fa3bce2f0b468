#include "simulate/render_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::HasSubstr;
using testing::Not;

RunResult Sample() {
  RunResult result;
  result.binds["ns/pod"] = "node";
  result.jobs["ns/pg"] = {
      .phase = "Running", .allocated_hypernode = "s4", .tier = 2, .reason = "", .message = ""};
  result.hypernodes["s0"] = {.tier = 1, .parent = "s4", .nodes = 2, .ready = true, .reason = ""};
  result.warnings = {{"PodGroup ns/pg", "Odd", "is \"odd\""}};
  result.cycles = 3;
  return result;
}

TEST(RenderData, ListsEvictionsInTheOrderOfDecisions) {
  RunResult result;
  result.evicted = {"ns/a-0"};
  result.evictions.push_back({.cycle = 2,
                              .action = "reclaim",
                              .claimant = "ns/poor",
                              .hypernode = "",
                              .tier = 0,
                              .victims = {{"ns/a", false, {"ns/a-0"}}}});
  EXPECT_THAT(RenderJson(result), HasSubstr(R"("evictions": [
    {
      "cycle": 2,
      "action": "reclaim",
      "job": "ns/poor",
      "hyperNode": "",
      "tier": 0,
      "victims": [
        {
          "job": "ns/a",
          "unit": "surplus",
          "pods": [
            "ns/a-0"
          ]
        }
      ]
    }
  ])"));
}

TEST(RenderData, JsonHasTheKeysOfTheInterfaceInOrder) {
  EXPECT_EQ(RenderJson(Sample()), R"({
  "binds": {
    "ns/pod": "node"
  },
  "pipelined": {},
  "evicted": [],
  "devices": {},
  "jobs": {
    "ns/pg": {
      "phase": "Running",
      "allocatedHyperNode": "s4",
      "tier": 2,
      "reason": "",
      "message": ""
    }
  },
  "hyperNodes": {
    "s0": {
      "tier": 1,
      "parent": "s4",
      "nodes": 2,
      "ready": true,
      "reason": ""
    }
  },
  "topologyReady": true,
  "warnings": [
    {
      "object": "PodGroup ns/pg",
      "reason": "Odd",
      "message": "is \"odd\""
    }
  ],
  "cycles": 3
}
)");
}

TEST(RenderData, TimingsAreThereOnlyWhenMeasured) {
  RunResult result = Sample();
  EXPECT_THAT(RenderJson(result), Not(HasSubstr("timings")));
  result.timings = {.load_ms = 1.5, .open_ms = 0, .actions_ms = 0.25, .close_ms = 0};
  EXPECT_THAT(RenderJson(result), HasSubstr("\"loadMs\": 1.5"));
}

TEST(RenderData, YamlQuotesWhatWouldBeReadAsSomethingElse) {
  RunResult result = Sample();
  result.binds["ns/b"] = "1e3";
  result.hypernodes["yes"] = {};
  const std::string yaml = RenderYaml(result);
  EXPECT_THAT(yaml, HasSubstr("ns/b: \"1e3\"\n"));
  EXPECT_THAT(yaml, HasSubstr("\"yes\":\n"));
  EXPECT_THAT(yaml, HasSubstr("message: \"is \\\"odd\\\"\"\n"));
  EXPECT_THAT(yaml, HasSubstr("pipelined: {}\n"));
  EXPECT_THAT(yaml, HasSubstr("evicted: []\n"));
  EXPECT_THAT(yaml, HasSubstr("cycles: 3\n"));
}

TEST(RenderData, BytesThatAreNoUtf8DoNotBreakTheOutput) {
  RunResult result;
  result.binds["ns/p"] = "\xff";
  EXPECT_THAT(RenderJson(result), HasSubstr("\"ns/p\": \"\xEF\xBF\xBD\""));
}

}  // namespace
}  // namespace strata
