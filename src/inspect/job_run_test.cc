#include "inspect/job_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::inspect {
namespace {

using testing::HasSubstr;

TEST(JobBody, IsAJobOfOneTask) {
  const Quantity one = Quantity::Parse("1").value();
  const NewJob job{.key = {"ml", "train"},
                   .replicas = 8,
                   .min_available = 4,
                   .requests = {{"cpu", one}},
                   .limits = {{"cpu", one}},
                   .queue = "research",
                   .highest_tier = 2,
                   .command = {"sleep", "60"}};
  EXPECT_EQ(JobBody(job),
            R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job",)"
            R"("metadata":{"name":"train","namespace":"ml"},"spec":{"minAvailable":4,)"
            R"("schedulerName":"volcano","queue":"research",)"
            R"("networkTopology":{"mode":"hard","highestTierAllowed":2},)"
            R"("tasks":[{"name":"train","replicas":8,"template":{"spec":{"restartPolicy":"Never",)"
            R"("containers":[{"name":"train","image":"busybox","imagePullPolicy":"IfNotPresent",)"
            R"("command":["sleep","60"],"resources":{"requests":{"cpu":"1"},)"
            R"("limits":{"cpu":"1"}}}]}}}]}})");
}

TEST(JobOfManifest, TakesTheNamespaceOnlyWhereThereIsNone) {
  const std::string head = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a";
  EXPECT_THAT(JobOfManifest("a.yaml", head + "}\n", "ml").value(),
              HasSubstr(R"("namespace":"ml")"));
  EXPECT_THAT(JobOfManifest("a.yaml", head + ", namespace: cv}\n", "ml").value(),
              HasSubstr(R"("namespace":"cv")"));
}

TEST(JobOfManifest, WantsOneJob) {
  const auto pod = JobOfManifest("p.yaml", "apiVersion: v1\nkind: Pod\n", "ml");
  ASSERT_FALSE(pod);
  EXPECT_EQ(pod.error().message,
            "p.yaml: want one Job of batch.volcano.sh/v1alpha1; kubectl apply -f takes anything "
            "else");
  EXPECT_FALSE(JobOfManifest("p.yaml", "", "ml"));
}

}  // namespace
}  // namespace strata::inspect
