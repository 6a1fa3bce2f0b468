#include "inspect/job_choice.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::inspect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JobReport Named(const std::string& name, const std::string& phase, std::int64_t gpus) {
  JobReport job;
  job.key = {"ml", name};
  job.phase = phase;
  job.state = StateOfPhase(phase).value();
  job.queue = gpus > 4 ? "large" : "small";
  job.gpus = Quantity::FromValue(gpus);
  job.labels = {{"size", gpus > 4 ? "large" : "small"}};
  job.created = Time{} + std::chrono::seconds(100 - gpus);
  return job;
}

std::vector<std::string> Chosen(const JobChoice& choice) {
  std::vector<JobReport> jobs = {Named("t10", "Running", 8),
                                 Named("t9", "Inqueue", 2),
                                 Named("done", "Completed", 4),
                                 Named("bad", "Failed", 16)};
  ChooseJobs(choice, Time{} + std::chrono::seconds(200), jobs);
  std::vector<std::string> names;
  for (const JobReport& job : jobs) names.push_back(job.key.name);
  return names;
}

TEST(ChooseJobs, SortsByNameAndReadsNumbersInIt) {
  EXPECT_THAT(Chosen({}), ElementsAre("bad", "done", "t9", "t10"));
}

TEST(ChooseJobs, SortsByTheNameThatIsShown) {
  JobReport pod = Named("podgroup-98e6", "Pending", 1);
  pod.kind = JobReport::Kind::kPodGroup;
  pod.owner = "ReplicaSet/web";
  std::vector<JobReport> jobs = {pod, Named("Z", "Pending", 1), Named("a", "Pending", 1)};
  ChooseJobs({}, Time{}, jobs);
  EXPECT_EQ(jobs[0].owner, "ReplicaSet/web");
}

TEST(ChooseJobs, SortsTheLargestFirst) {
  EXPECT_THAT(Chosen({.order = JobOrder::kGpus}), ElementsAre("bad", "t10", "done", "t9"));
  EXPECT_THAT(Chosen({.order = JobOrder::kAge}), ElementsAre("bad", "t10", "done", "t9"));
  EXPECT_THAT(Chosen({.order = JobOrder::kTime}), ElementsAre("t9", "bad", "done", "t10"));
  EXPECT_THAT(Chosen({.order = JobOrder::kPhase}), ElementsAre("done", "bad", "t9", "t10"));
}

TEST(ChooseJobs, TakesStatesPhasesQueuesAndLabels) {
  EXPECT_THAT(Chosen({.states = ParseStates("finished").value()}), ElementsAre("bad", "done"));
  EXPECT_THAT(Chosen({.states = ParseStates("Waiting,failed").value()}), ElementsAre("bad", "t9"));
  EXPECT_THAT(Chosen({.queue = "large"}), ElementsAre("bad", "t10"));
  const auto small = [](const Labels& labels) { return labels.at("size") == "small"; };
  EXPECT_THAT(Chosen({.labels = small}), ElementsAre("done", "t9"));
}

TEST(ChooseJobs, AnUnknownWordIsAnErrorWithTheKnownOnes) {
  EXPECT_THAT(ParseStates("waiting,busy").error().message,
              HasSubstr("unknown state \"busy\" (want waiting, running, finished, suspended"));
  EXPECT_EQ(ParseJobOrder("size").error().message,
            "unknown order \"size\" (want name|queue|phase|domain|gpus|time|age)");
}

}  // namespace
}  // namespace strata::inspect
