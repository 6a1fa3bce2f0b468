#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "replay/policies/cells.h"
#include "replay/test_workload.h"

namespace strata::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool Anywhere(std::uint32_t /*node*/) {
  return true;
}

TEST(CellPool, TakesTheSmallestFreeCellAndMergesWhatIsGivenBack) {
  CellPool pool(2, 2, 8);
  const Cell pair = *pool.Take(1, Anywhere);
  EXPECT_EQ(pair, (Cell{.level = 1, .node = 0, .gpu = 0}));
  // The other half of what was split, not a new node.
  EXPECT_EQ(*pool.Take(1, Anywhere), (Cell{.level = 1, .node = 0, .gpu = 2}));
  EXPECT_EQ(*pool.Take(2, Anywhere), (Cell{.level = 2, .node = 0, .gpu = 4}));
  EXPECT_EQ(*pool.Take(3, Anywhere), (Cell{.level = 3, .node = 1}));
  EXPECT_EQ(*pool.Take(4, Anywhere), (Cell{.level = 4, .node = 2}));
  EXPECT_FALSE(pool.Take(0, Anywhere).has_value());
  pool.Give(pair);
  EXPECT_FALSE(pool.Take(2, Anywhere).has_value());
  pool.Give({.level = 1, .node = 0, .gpu = 2});
  EXPECT_EQ(*pool.Take(2, Anywhere), (Cell{.level = 2, .node = 0, .gpu = 0}));
}

std::vector<TraceJob> InQueue(std::vector<TraceJob> jobs, const std::string& queue) {
  for (TraceJob& job : jobs) {
    job.queue = queue;
    job.name = queue + "-" + job.name;
  }
  return jobs;
}

EngineResult ReplayBuddy(const Workload& workload,
                         const Fabric& fabric,
                         const std::string& name,
                         const std::vector<TenantCells>& tenants) {
  auto choice = ChoosePolicy(name);
  CHECK(choice.has_value());
  choice->tenants = tenants;
  auto policy = MakePolicy(*choice, workload, fabric, 1);
  CHECK(policy.has_value());
  return Replay(workload, fabric, {.discipline = Discipline::kSkip, .check = true}, **policy);
}

// One node of 8 GPUs: a owns half of it, b the other half. By count, jobs of a with one GPU each
// may lie anywhere; by cells they leave the half of b whole.
TEST(Buddy, KeepsTheCellsOfOthersWhole) {
  const Fabric fabric = MakeFabric(1, 1, 2, 8);
  const std::vector<TenantCells> tenants = {{.queue = "a", .gpus = 4, .count = 2},
                                            {.queue = "b", .gpus = 8, .count = 1}};
  std::vector<TraceJob> jobs = InQueue({TestJob("0", 0, 100, 1, 4),
                                        TestJob("1", 0, 10, 1, 4),
                                        TestJob("2", 20, 100, 1, 2),
                                        TestJob("3", 20, 100, 1, 2)},
                                       "a");
  jobs.push_back(InQueue({TestJob("0", 30, 10, 1, 8)}, "b").front());
  const Workload workload = TestWorkload(jobs, fabric);
  const auto result = ReplayBuddy(workload, fabric, "rule:buddy", tenants);
  EXPECT_THAT(result.faults, IsEmpty());
  EXPECT_EQ(result.runs.back().start, 30'000);
}

// The wait of jobs of a queue beyond what they would wait with the cells of the queue alone.
struct Anomaly {
  Millis cells = 0;
  Millis counts = 0;
};
Anomaly AnomalyOf(const Fabric& fabric,
                  const std::vector<TenantCells>& tenants,
                  const std::vector<std::vector<TraceJob>>& by_queue) {
  std::vector<TraceJob> all;
  for (const auto& jobs : by_queue) all.insert(all.end(), jobs.begin(), jobs.end());
  std::stable_sort(all.begin(), all.end(), [](const TraceJob& a, const TraceJob& b) {
    return a.submit < b.submit;
  });
  const Workload together = TestWorkload(all, fabric);
  const auto cells = ReplayBuddy(together, fabric, "rule:buddy", tenants);
  const auto counts = ReplayBuddy(together, fabric, "rule:buddy,quota=counts", tenants);
  EXPECT_THAT(cells.faults, IsEmpty());
  EXPECT_THAT(counts.faults, IsEmpty());
  Anomaly anomaly;
  for (const auto& jobs : by_queue) {
    const Workload workload = TestWorkload(jobs, fabric);
    const auto alone = ReplayBuddy(workload, fabric, "rule:buddy", tenants);
    std::size_t at = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].queue != jobs.front().queue) continue;
      const Millis start = alone.runs[at++].start;
      anomaly.cells += std::max<Millis>(cells.runs[i].start - start, 0);
      anomaly.counts += std::max<Millis>(counts.runs[i].start - start, 0);
    }
  }
  return anomaly;
}

struct Mix {
  std::vector<TenantCells> tenants;
  std::vector<std::vector<TraceJob>> by_queue;
};

// Three tenants that own all of four nodes together: c has a leaf, or halves of halves.
Mix RandomMix(Random& random) {
  const auto draw = [&](std::uint64_t bound) { return static_cast<int>(random.Below(bound)); };
  const bool leaf = draw(2) == 0;
  struct Tenant {
    TenantCells cells;
    unsigned sizes = 0;  // of jobs: 1, 2, 4, ... GPUs
  };
  const std::vector<Tenant> all = {
      {{.queue = "a", .gpus = 4, .count = 2}, 3},
      {{.queue = "b", .gpus = 8, .count = 1}, 4},
      {{.queue = "c", .gpus = leaf ? TenantCells::kLeaf : 2, .count = leaf ? 1 : 8},
       leaf ? 4U : 2U}};
  Mix mix;
  for (const Tenant& tenant : all) {
    mix.tenants.push_back(tenant.cells);
    const bool may_be_wide = leaf && tenant.cells.queue == "c";
    std::vector<TraceJob> jobs;
    int now = 0;
    for (int i = 0; i < 12; ++i) {
      now += draw(15);
      const int pods = may_be_wide && draw(3) == 0 ? 2 : 1;
      const int seconds = 1 + draw(40);
      jobs.push_back(TestJob(std::to_string(i), now, seconds, pods, 1 << draw(tenant.sizes)));
    }
    mix.by_queue.push_back(InQueue(std::move(jobs), tenant.cells.queue));
  }
  return mix;
}

// HiveD's promise.
TEST(Buddy, LetsNobodyWaitForOthersInsideTheirCells) {
  constexpr int kMixes = 1000;
  const Fabric fabric = MakeFabric(1, 2, 2, 8);
  Random random(3);
  int unfair = 0;
  for (int i = 0; i < kMixes; ++i) {
    const Mix mix = RandomMix(random);
    const Anomaly anomaly = AnomalyOf(fabric, mix.tenants, mix.by_queue);
    ASSERT_EQ(anomaly.cells, 0) << "mix " << i;
    unfair += anomaly.counts > 0 ? 1 : 0;
  }
  EXPECT_GT(unfair, 0);
}

TEST(Buddy, SaysWhatItCannotDo) {
  const Fabric fabric = MakeFabric(1, 1, 2, 8);
  TraceJob job = TestJob("a", 0, 1, 1, 8);
  job.queue = "q";
  const Workload workload = TestWorkload({job}, fabric);
  const auto error = [&](const Fabric& on, const std::vector<TenantCells>& tenants) {
    const auto policy = MakeBuddy(workload, on, tenants, TenantQuota::kCells);
    return policy ? std::string() : policy.error().message;
  };
  EXPECT_THAT(error(fabric, {{.queue = "q", .gpus = 4, .count = 4}}),
              HasSubstr("queue q: its cells are too small for a job of 8 GPUs in 1 pods"));
  EXPECT_THAT(error(fabric, {{.queue = "q", .gpus = 8, .count = 3}}),
              HasSubstr("the cells of all queues are more than the cluster has: queue q"));
  EXPECT_THAT(error(fabric, {{.queue = "q", .gpus = 16, .count = 1}}),
              HasSubstr("queue q: cells of 16 GPUs: a node has 8"));
  EXPECT_THAT(error(MakeFabric(1, 1, 2, 6), {}), HasSubstr("node node-0 has 6 GPUs: want 1, 2"));
}

TEST(ReadTenants, ReadsCellsOfQueues) {
  const auto tenants = ReadTenants("t.csv", "queue,gpus,cells\na,4,2\nb,leaf,1\n");
  ASSERT_TRUE(tenants.has_value());
  ASSERT_EQ(tenants->size(), 2U);
  EXPECT_EQ((*tenants)[0].gpus, 4);
  EXPECT_EQ((*tenants)[1].gpus, TenantCells::kLeaf);
  EXPECT_EQ(ReadTenants("t.csv", "queue,gpus,cells\na,3,2\n").error().message,
            "t.csv:2:3: column gpus: want leaf, or 1, 2, 4, 8 ... GPUs, found \"3\"");
}

}  // namespace
}  // namespace strata::replay
