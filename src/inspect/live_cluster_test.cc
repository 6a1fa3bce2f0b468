#include "inspect/live_cluster.h"

#include <gtest/gtest.h>

namespace strata::inspect {
namespace {

kube::ConnectionConfig Dev() {
  kube::ConnectionConfig config;
  config.cluster.server = "https://dev:6443";
  config.origin = "context dev of /home/a/.kube/config";
  return config;
}

kube::Failure Answer(int http_status, std::string message) {
  kube::Failure failure;
  failure.error = {kube::CodeOf(http_status), std::move(message)};
  failure.http_status = http_status;
  return failure;
}

std::string Line(const kube::ResourcePath& path, const kube::Failure& failure) {
  return DescribeFailure(path, failure, Dev()).message;
}

TEST(DescribeFailure, SaysWhereNobodyAnswers) {
  EXPECT_EQ(Line({}, Answer(0, "connection refused")),
            "https://dev:6443: connection refused (context dev of /home/a/.kube/config); is the "
            "cluster running? --kubeconfig and --context name another");
}

TEST(DescribeFailure, SaysWhoseCredentialsWereRefused) {
  EXPECT_EQ(Line({kube::kPods, "", "", ""}, Answer(401, "Unauthorized")),
            "https://dev:6443 does not accept the credentials of context dev of "
            "/home/a/.kube/config; log in again, or name others with --kubeconfig or --context");
}

TEST(DescribeFailure, SaysWhichRightIsMissing) {
  EXPECT_EQ(Line({kube::kPods, "", "", ""}, Answer(403, "pods is forbidden: no")),
            "pods is forbidden: no; ask for that right, or name another user with --context");
}

TEST(DescribeFailure, TellsAMissingKindFromAMissingObject) {
  const kube::ResourcePath train{kube::kJobs, "default", "train", ""};
  EXPECT_EQ(Line(train, Answer(404, "the server could not find the requested resource")),
            "https://dev:6443 does not serve jobs.batch.volcano.sh; install its definition: "
            "kubectl apply --server-side -f deploy/crds");
  EXPECT_EQ(Line(train, Answer(404, "404 page not found")),
            Line({kube::kJobs, "", "", ""}, Answer(404, "jobs.batch.volcano.sh \"x\"")));
  EXPECT_EQ(Line(train, Answer(404, "jobs.batch.volcano.sh \"train\" not found")),
            "jobs.batch.volcano.sh \"train\" not found");
}

}  // namespace
}  // namespace strata::inspect
