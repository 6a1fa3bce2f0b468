#include "local_cluster/next_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(NextSteps, SaysHowAClusterWithoutNodesGetsSome) {
  EXPECT_THAT(NextSteps("/tmp/k", ClusterNodes::kNone),
              AllOf(HasSubstr("has no nodes, so every pod waits"),
                    HasSubstr("export KUBECONFIG=/tmp/k\n"),
                    HasSubstr("kubectl apply -f examples/training\n"),
                    HasSubstr("strata up --generate ")));
}

TEST(NextSteps, RunsAJobWhereThereAreNodes) {
  EXPECT_THAT(NextSteps("/tmp/k", ClusterNodes::kPerhaps),
              AllOf(HasSubstr("kubectl apply -f examples/training/job.yaml\n"),
                    Not(HasSubstr("no nodes"))));
}

}  // namespace
}  // namespace strata
