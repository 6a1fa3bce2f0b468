#include "objects/annotation_values.h"

#include <array>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::objects {
namespace {

TEST(AnnotationProblem, AcceptsWhatReadersRead) {
  constexpr std::pair<const char*, const char*> kGood[] = {
      {"hami.io/gpu-scheduler-policy", "topology-aware"},
      {"hami.io/gpu-scheduler-policy", "numa, binpack,"},
      {"hami.io/node-scheduler-policy", "spread"},
      {"hami.io/node-scheduler-policy", ""},
      {"hami.io/device-scoring-weights", "memory=3, slot=1,core=0"},
      {"nvidia.com/numa-bind", "True"},
      {"nvidia.com/numa-bind", ""},
      {"volcano.sh/vgpu-podgroup-policy", "spread"},
      {"volcano.sh/numa-topology-policy", "single-numa-node"},
      {"volcano.sh/preemptable", "false"},
      {"volcano.sh/cooldown-time", "10m"},
      {"volcano.sh/last-checkpoint-time", "2026-08-20T10:00:00Z"},
      {"volcano.sh/network-topology-mode", "soft"},
      {"volcano.sh/network-topology-highest-tier", "2"},
      {"volcano.sh/sla-waiting-time", "1h30m"},
      {"volcano.sh/task-priority", "-5"},
      {"strata.sh/evict", "false"},
      {"example.com/gpu-scheduler-policy", "whatever"},
  };
  for (const auto& [key, value] : kGood) EXPECT_EQ(AnnotationProblem(key, value), "") << key;
}

TEST(AnnotationProblem, NamesValueAndWhatIsAccepted) {
  constexpr std::array<std::array<const char*, 3>, 13> kBad = {{
      {"hami.io/gpu-scheduler-policy",
       "binpack,topologyaware",
       "\"topologyaware\" is not a policy (want binpack, spread, numa, mutex or topology-aware)"},
      {"hami.io/node-scheduler-policy",
       "Spread",
       "\"Spread\" is not a policy (want binpack or spread)"},
      {"hami.io/device-scoring-weights",
       "slot=1,core=1",
       "found \"slot=1,core=1\", want slot=N,core=N,memory=N, not all 0"},
      {"nvidia.com/numa-bind", "yes", "found \"yes\", want true or false"},
      {"volcano.sh/vgpu-podgroup-policy", "spred", "found \"spred\", want spread"},
      {"volcano.sh/numa-topology-policy",
       "single",
       "unknown value \"single\" (want none, best-effort, restricted or single-numa-node)"},
      {"volcano.sh/preemptable", "no", "found \"no\", want true or false"},
      {"volcano.sh/network-topology-mode", "Hard", "found \"Hard\", want hard or soft"},
      {"volcano.sh/network-topology-highest-tier",
       "-1",
       "found \"-1\", want an integer of at least 0"},
      {"volcano.sh/network-topology-highest-tier",
       "rack",
       "found \"rack\", want an integer of at least 0"},
      {"sla-waiting-time", "0s", "want a duration above 0, found \"0s\""},
      {"volcano.sh/task-priority", "high", "found \"high\", want an integer of 32 bits"},
      {"strata.sh/evict", "never", "found \"never\", want true or false"},
  }};
  for (const auto& [key, value, problem] : kBad) {
    EXPECT_EQ(AnnotationProblem(key, value), problem) << key;
  }
  EXPECT_THAT(AnnotationProblem("volcano.sh/cooldown-time", "ten"),
              ::testing::HasSubstr("\"ten\""));
  EXPECT_THAT(AnnotationProblem("volcano.sh/last-checkpoint-time", "noon"),
              ::testing::HasSubstr("noon"));
}

TEST(LabelProblem, JudgesOnlyLabelsThatAreRead) {
  EXPECT_EQ(LabelProblem("volcano.sh/preemptable", "maybe"), "found \"maybe\", want true or false");
  EXPECT_EQ(LabelProblem("hami.io/gpu-scheduler-policy", "fastest"), "");
}

}  // namespace
}  // namespace strata::objects
