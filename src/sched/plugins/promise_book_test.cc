#include "sched/plugins/promise_book.h"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "base/check.h"

namespace strata {
namespace {

constexpr Amount kCore = 1000;

JobSpec Promised(const std::string& name, const std::string& queue, Amount cpu) {
  JobSpec spec;
  spec.name = name;
  spec.queue = queue;
  spec.min_available = 1;
  spec.phase = JobPhase::kInqueue;
  spec.min_resources.emplace().Set(kCpu, cpu);
  return spec;
}

void AddQueue(ClusterState& state, const std::string& name) {
  QueueSpec spec;
  spec.name = name;
  state.workload().UpsertQueue(std::move(spec));
}

TaskId AddRunning(ClusterState& state, JobId job, Amount cpu) {
  TaskSpec spec;
  spec.name = state.workload().job(job).spec.name + "-pod";
  spec.job = job;
  spec.status = TaskStatus::kRunning;
  spec.constraints.request.Set(kCpu, cpu);
  return state.workload().AddTask(std::move(spec));
}

double PromisedCpu(PromiseBook& book, const ClusterState& state, const std::string& queue) {
  book.Refresh(state);
  return book.PromisedIn(*state.workload().FindQueue(queue), 1)[0];
}

TEST(PromiseBook, FollowsAJobFromItsPromiseToWhatItHolds) {
  ClusterState state;
  AddQueue(state, "q");
  PromiseBook book;
  const JobId job = state.workload().UpsertJob(Promised("ns/a", "q", 4 * kCore));
  EXPECT_EQ(PromisedCpu(book, state, "q"), 4 * kCore);

  const TaskId task = AddRunning(state, job, 6 * kCore);
  EXPECT_EQ(PromisedCpu(book, state, "q"), 0);
  EXPECT_EQ(book.ElasticIn(*state.workload().FindQueue("q"), 1)[0], 2 * kCore);

  state.workload().RemoveTask(task);
  EXPECT_EQ(PromisedCpu(book, state, "q"), 4 * kCore);
  EXPECT_EQ(book.ElasticIn(*state.workload().FindQueue("q"), 1)[0], 0);
}

TEST(PromiseBook, MovesAPromiseWithItsJobAndForgetsItWithIt) {
  ClusterState state;
  AddQueue(state, "p");
  AddQueue(state, "q");
  PromiseBook book;
  const JobId job = state.workload().UpsertJob(Promised("ns/a", "p", 4 * kCore));
  EXPECT_EQ(PromisedCpu(book, state, "p"), 4 * kCore);
  state.workload().UpsertJob(Promised("ns/a", "q", 4 * kCore));
  EXPECT_EQ(PromisedCpu(book, state, "p"), 0);
  EXPECT_EQ(PromisedCpu(book, state, "q"), 4 * kCore);
  state.workload().RemoveJob(job);
  EXPECT_EQ(PromisedCpu(book, state, "q"), 0);
}

TEST(PromiseBook, CountsJobsWithoutAQueueInTheTotalOnly) {
  ClusterState state;
  AddQueue(state, "q");
  PromiseBook book;
  state.workload().UpsertJob(Promised("ns/a", "q", kCore));
  state.workload().UpsertJob(Promised("ns/b", "nobody's", 2 * kCore));
  EXPECT_EQ(PromisedCpu(book, state, "q"), kCore);
  EXPECT_EQ(book.PromisedInAll(1)[0], 3 * kCore);
}

TEST(PromiseBook, DoesNotOverflowHoweverMuchIsPromised) {
  constexpr Amount kMax = std::numeric_limits<Amount>::max();
  ClusterState state;
  AddQueue(state, "q");
  PromiseBook book;
  const JobId first = state.workload().UpsertJob(Promised("ns/a", "q", kMax));
  state.workload().UpsertJob(Promised("ns/b", "q", kMax));
  EXPECT_EQ(PromisedCpu(book, state, "q"), 2 * static_cast<double>(kMax));
  state.workload().RemoveJob(first);
  EXPECT_EQ(PromisedCpu(book, state, "q"), static_cast<double>(kMax));
}

}  // namespace
}  // namespace strata
