#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "json/parse.h"
#include "page/columns_json.h"
#include "page/test_page_cluster.h"
#include "tests/support/property.h"

namespace strata::page {
namespace {

using nlohmann::json;

// ---- what a reader of the stream does (docs/page.md)

void FoldRuns(const json& entries, std::vector<int>& cells) {
  for (const auto& [first, runs] : entries.items()) {
    std::size_t at = std::stoul(first);
    for (std::size_t i = 0; i < runs.size(); i += 2) {
      for (int n = runs[i + 1]; n > 0; --n) cells.at(at++) = runs[i];
    }
  }
}

json EncodeRuns(const std::vector<int>& cells) {
  json runs = json::array();
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t next = i;
    while (next < cells.size() && cells[next] == cells[i]) ++next;
    runs.push_back(cells[i]);
    runs.push_back(next - i);
    i = next;
  }
  return runs;
}

void FoldGpus(const json& change, json& gpus) {
  if (change.contains("state")) {
    std::string state = gpus["state"];
    for (const auto& [first, text] : change["state"].items()) {
      const std::string part = text;
      state.replace(std::stoul(first), part.size(), part);
    }
    gpus["state"] = state;
  }
  if (change.contains("holder")) {
    std::vector<int> cells(gpus["state"].get<std::string>().size());
    FoldRuns({{"0", gpus["holder"]}}, cells);
    FoldRuns(change["holder"], cells);
    gpus["holder"] = EncodeRuns(cells);
  }
}

void FoldColumns(const json& change, json& columns) {
  for (const auto& [key, entries] : change.items()) {
    json& column = columns[key];
    const bool is_table = key == "used" || key == "allocatable";
    if (is_table) {
      FoldColumns(entries, column);
      continue;
    }
    for (const auto& [at, value] : entries.items()) {
      if (column.is_array()) {
        column[std::stoul(at)] = value;
      } else if (value.is_null()) {
        column.erase(at);
      } else {
        column[at] = value;
      }
    }
  }
}

void Fold(json change, json& cluster) {
  for (const char* key : {"revision", "time", "fit"}) {
    if (change.contains(key)) cluster[key] = change[key];
  }
  if (change.contains("gpus")) {
    FoldGpus(change["gpus"], cluster["gpus"]);
    change["gpus"].erase("state");
    change["gpus"].erase("holder");
  }
  for (const char* key : {"hyperNodes", "nodes", "gpus", "jobs"}) {
    if (change.contains(key)) FoldColumns(change[key], cluster[key]);
  }
}

// ---- random steps

constexpr int kNodes = 6;
constexpr int kJobs = 5;
constexpr int kPods = 3;

std::string Name(const std::string& kind, int number) {
  return kind + std::to_string(number);
}

void Step(PageCluster& cluster) {
  const std::string job = Name("job", *rc::gen::inRange(0, kJobs));
  const std::string pod = job + "-" + std::to_string(*rc::gen::inRange(0, kPods));
  const std::string node = Name("n", *rc::gen::inRange(0, kNodes));
  switch (*rc::gen::inRange(0, 8)) {
    case 0:
      return cluster.Group(job, 2);
    case 1:
      return cluster.Group(job,
                           2,
                           "2/2 wait; nearest: HyperNode r0 (tier 1) takes 1 of 2; this alone "
                           "would let it start: x");
    case 2:
      return cluster.RemoveGroup(job);
    case 3:
      return cluster.RemovePod(pod);
    case 4:
      return cluster.Node(node, 4, *rc::gen::arbitrary<bool>() ? R"("unschedulable":true)" : "");
    case 5:
      return cluster.Pod(pod, job, 2, node, true);
    default:
      return cluster.Pod(
          pod, job, *rc::gen::inRange(1, 3), *rc::gen::arbitrary<bool>() ? node : "");
  }
}

TEST(ColumnsProperty, ASnapshotWithItsChangesFoldedInEqualsAFreshOne) {
  constexpr int kCases = 20;
  constexpr int kSteps = 50;
  testing::CheckProperty(kCases, [] {
    PageCluster cluster;
    for (int i = 0; i < kNodes; ++i) cluster.Node(Name("n", i), 4);
    cluster.Leaf("r0", {"n0", "n1", "n2"});
    cluster.Leaf("r1", {"n3", "n4"});
    cluster.Above("s", {"r0", "r1"});
    ColumnsMaker maker;
    ClusterColumns before = maker.Make(cluster.Settled());
    json folded = json::parse(RenderCluster(before, {.epoch = 1, .revision = 0, .time = {}}));
    for (int i = 1; i <= kSteps; ++i) {
      Step(cluster);
      const Stamp stamp{.epoch = 1, .revision = i, .time = Time{} + std::chrono::seconds(i)};
      const ClusterColumns after = maker.Make(cluster.Settled());
      RC_ASSERT(HaveSameLayout(before, after));
      const std::string change = RenderChange(before, after, stamp);
      json fresh = json::parse(RenderCluster(after, stamp));
      if (change.empty()) {  // nothing is sent then
        fresh["revision"] = folded["revision"];
        fresh["time"] = folded["time"];
      } else {
        Fold(json::parse(change), folded);
      }
      if (folded != fresh) std::cout << json::diff(folded, fresh).dump() << "\n" << change << "\n";
      RC_ASSERT(folded == fresh);
      before = after;
    }
  });
}

TEST(ColumnsProperty, NothingIsSaidWhereNothingDiffers) {
  PageCluster cluster;
  cluster.Node("n0", 4);
  ColumnsMaker maker;
  const ClusterColumns columns = maker.Make(cluster.Settled());
  EXPECT_EQ(RenderChange(columns, columns, {}), "");
}

}  // namespace
}  // namespace strata::page
