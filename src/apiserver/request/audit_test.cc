#include "apiserver/request/audit.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apiserver/test_server.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Audit {
  // What the log says of a request that is answered so; status 0: it is never answered.
  std::vector<json> Ask(const std::string& method,
                        const std::string& path,
                        int status,
                        const std::string& body = "{}") {
    std::vector<json> lines;
    net::HttpRequest request{.method = method,
                             .path = path,
                             .query = "fieldManager=kubectl-create",
                             .headers = {{"User-Agent", "kubectl/v1.37.1"}},
                             .body = "{\"data\": {\"password\": \"swordfish\"}}"};
    const auto exchange = std::make_shared<TestExchange>(std::move(request));
    const auto audited = Audited(exchange, clock, [&lines](const std::string& line) {
      EXPECT_EQ(line.find("swordfish"), std::string::npos) << line;
      lines.push_back(json::parse(line));
    });
    if (status != 0) {
      audited->Respond({.status = status, .headers = {}, .body = body});
      EXPECT_EQ(exchange->answer.status, status);
    }
    return lines;
  }

  TestClock clock;
};

TEST(Audit, SaysWhoChangedWhat) {
  Audit audit;
  const auto lines =
      audit.Ask("PATCH", "/apis/batch.volcano.sh/v1alpha1/namespaces/ml/jobs/train/status", 409);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0],
            json::parse(R"({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata",
      "stage": "ResponseComplete", "verb": "patch", "user": {"username": "admin"},
      "requestURI": "/apis/batch.volcano.sh/v1alpha1/namespaces/ml/jobs/train/status?fieldManager=kubectl-create",
      "userAgent": "kubectl/v1.37.1", "responseStatus": {"code": 409},
      "objectRef": {"apiGroup": "batch.volcano.sh", "apiVersion": "v1alpha1", "namespace": "ml",
        "resource": "jobs", "name": "train", "subresource": "status"},
      "requestReceivedTimestamp": "2027-01-15T08:00:00.000000Z",
      "stageTimestamp": "2027-01-15T08:00:00.000000Z"})"));
}

TEST(Audit, ACreatedObjectHasTheNameThatItWasGiven) {
  Audit audit;
  const auto lines =
      audit.Ask("POST",
                "/api/v1/namespaces/ml/secrets",
                201,
                R"({"metadata": {"name": "key-x7k2p"}, "data": {"k": "swordfish"}})");
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(lines[0]["objectRef"]["name"], "key-x7k2p");
  EXPECT_EQ(lines[0]["verb"], "create");
}

TEST(Audit, LeavesOutReadsAndWhatIsWrittenAllTheTime) {
  Audit audit;
  EXPECT_THAT(audit.Ask("GET", "/api/v1/namespaces/ml/secrets/key", 200), IsEmpty());
  EXPECT_THAT(audit.Ask("POST", "/api/v1/namespaces/ml/events", 201), IsEmpty());
  EXPECT_THAT(audit.Ask("PUT", "/apis/coordination.k8s.io/v1/namespaces/ml/leases/l", 200),
              IsEmpty());
  EXPECT_THAT(audit.Ask("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 201),
              IsEmpty());
}

TEST(Audit, AChangeWithoutAnAnswerIsLogged) {
  std::vector<std::string> lines;
  const TestClock clock;
  {
    const auto audited = Audited(
        std::make_shared<TestExchange>(net::HttpRequest{
            .method = "DELETE", .path = "/api/v1/nodes", .query = "", .headers = {}, .body = {}}),
        clock,
        [&lines](const std::string& line) { lines.push_back(line); });
  }
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_EQ(json::parse(lines[0])["stage"], "RequestReceived");
  EXPECT_EQ(json::parse(lines[0])["verb"], "deletecollection");
}

}  // namespace
}  // namespace strata::apiserver
