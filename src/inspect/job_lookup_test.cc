#include "inspect/job_lookup.h"

#include <gtest/gtest.h>

namespace strata::inspect {
namespace {

JobReport Listed(JobReport::Kind kind,
                 const std::string& name,
                 const std::string& owner,
                 const std::string& pod) {
  JobReport job;
  job.kind = kind;
  job.key = {"ml", name};
  job.group = kind == JobReport::Kind::kJob ? name + "-u" : name;
  job.owner = owner;
  job.pods.push_back({.name = pod, .task = "", .phase = "Running", .node = "", .leaf = ""});
  return job;
}

std::vector<JobReport> Jobs() {
  using Kind = JobReport::Kind;
  return {Listed(Kind::kJob, "train", "", "train-w-0"),
          Listed(Kind::kPodGroup, "podgroup-1", "ReplicaSet/web-5d8f", "web-5d8f-x"),
          Listed(Kind::kPodGroup, "podgroup-2", "Pod/cores200", "cores200"),
          Listed(Kind::kPodGroup, "podgroup-3", "ReplicaSet/web-a-77", "web-a-77-y"),
          Listed(Kind::kPodGroup, "ray", "RayCluster/train", "head")};
}

std::string Meant(const std::string& name, std::string_view kind = {}) {
  const std::vector<JobReport> jobs = Jobs();
  const JobReport* job = ChooseNamed(jobs, {"ml", name}, kind);
  return job == nullptr ? "" : job->key.name;
}

TEST(ChooseNamed, TakesTheNamesThatTheListShows) {
  EXPECT_EQ(Meant("train"), "train");
  EXPECT_EQ(Meant("cores200", "Pod"), "podgroup-2");
  EXPECT_EQ(Meant("web-5d8f", "ReplicaSet"), "podgroup-1");
  EXPECT_EQ(Meant("train", "raycluster"), "ray");
  EXPECT_EQ(Meant("train", "Pod"), "");
}

TEST(ChooseNamed, TakesPodsPodGroupsAndDeployments) {
  EXPECT_EQ(Meant("train-w-0"), "train");
  EXPECT_EQ(Meant("train-u", "PodGroup"), "train");
  EXPECT_EQ(Meant("web", "Deployment"), "podgroup-1");
  EXPECT_EQ(Meant("web-a"), "podgroup-3");
  EXPECT_EQ(Meant("nothing"), "");
}

}  // namespace
}  // namespace strata::inspect
