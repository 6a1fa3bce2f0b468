#include "inspect/job_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::inspect {
namespace {

using testing::Pair;
using testing::UnorderedElementsAre;

// A PodGroup outside its queue, without pods.
std::string Waiting(const std::string& name, const std::string& queue, const std::string& made) {
  return R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{"name":")" +
         name + R"(","namespace":"ml","creationTimestamp":"2026-01-01T00:00:0)" + made +
         R"(Z"},"spec":{"minMember":1,"queue":")" + queue + R"("},"status":{"phase":"Pending"}})";
}

std::string Queue(const std::string& name) {
  return R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":")" +
         name + R"("},"spec":{"weight":1},"status":{"state":"Open"}})";
}

TEST(FindRanks, AreThePlacesInTheLineOfEachQueue) {
  const std::vector<std::string> texts = {Queue("default"),
                                          Queue("gpu"),
                                          Waiting("a", "default", "3"),
                                          Waiting("b", "default", "1"),
                                          Waiting("c", "gpu", "2")};
  const auto ranks = FindRanks({texts.begin(), texts.end()});
  ASSERT_TRUE(ranks) << ranks.error().message;
  EXPECT_THAT(*ranks, UnorderedElementsAre(Pair("ml/b", 1), Pair("ml/a", 2), Pair("ml/c", 1)));
  std::vector<JobReport> jobs(2);
  jobs[0].key = jobs[1].key = {"ml", "job"};
  jobs[0].group = "a";
  jobs[1].group = "b";
  jobs[1].state = JobState::kFinished;
  SetRanks(*ranks, jobs);
  EXPECT_EQ(jobs[0].rank, 2U);
  EXPECT_EQ(jobs[1].rank, 0U) << "it no longer waits";
}

}  // namespace
}  // namespace strata::inspect
