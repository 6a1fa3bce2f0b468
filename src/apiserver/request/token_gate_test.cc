#include "apiserver/request/token_gate.h"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata::apiserver {
namespace {

// What a gate with the token "right" answers; "" with status 200 when it lets the request through.
net::HttpResponse AskGate(const std::string& method,
                          const std::string& path,
                          const std::string& authorization,
                          const std::string& query = "") {
  net::HttpRequest request{
      .method = method, .path = path, .query = query, .headers = {}, .body = {}};
  if (!authorization.empty()) request.headers.push_back({"authorization", authorization});
  const net::HeadVerdict verdict = RequireToken("right")(request);
  return verdict.refusal.value_or(net::HttpResponse{.status = 200, .headers = {}, .body = {}});
}

std::string MessageFor(const std::string& method,
                       const std::string& path,
                       const std::string& query = "") {
  const net::HttpResponse answer = AskGate(method, path, "", query);
  EXPECT_EQ(answer.status, 403);
  const auto status = nlohmann::json::parse(answer.body, nullptr, false);
  EXPECT_EQ(status.value("reason", ""), "Forbidden");
  return status.value("message", "");
}

TEST(TokenGate, PassesRequestsWithTheToken) {
  EXPECT_EQ(AskGate("GET", "/api/v1/pods", "Bearer right").status, 200);
  EXPECT_EQ(AskGate("GET", "/api/v1/pods", "bearer  right ").status, 200);
}

TEST(TokenGate, RefusesEveryOtherToken) {
  for (const char* const token : {"wrong", "righ", "rightt", "RIGHT", "right right"}) {
    EXPECT_EQ(AskGate("GET", "/api/v1/pods", std::string("Bearer ") + token).status, 401) << token;
  }
}

TEST(TokenGate, IsOpenForProbesAndTheVersionOnly) {
  for (const char* const path : {"/healthz", "/livez", "/readyz", "/version"}) {
    EXPECT_EQ(AskGate("GET", path, "").status, 200) << path;
    EXPECT_EQ(AskGate("GET", path, "Bearer wrong").status, 200) << path;
  }
  for (const char* const path :
       {"/healthzz", "/", "/version/../api/v1/pods", "//version", "/metrics"}) {
    EXPECT_EQ(AskGate("GET", path, "").status, 403) << path;
  }
}

TEST(TokenGate, KnowsOnlyCallersWithTheToken) {
  using Caller = net::HeadVerdict::Caller;
  net::HttpRequest request{
      .method = "GET", .path = "/healthz", .query = {}, .headers = {}, .body = {}};
  EXPECT_EQ(RequireToken("right")(request).caller, Caller::kStranger);
  request.path = "/api/v1/pods";
  EXPECT_EQ(RequireToken("right")(request).caller, Caller::kStranger);
  request.headers.push_back({"Authorization", "Bearer right"});
  EXPECT_EQ(RequireToken("right")(request).caller, Caller::kKnown);
}

TEST(TokenGate, TellsAnonymousWhatItMayNotDo) {
  EXPECT_EQ(MessageFor("GET", "/api/v1/pods"),
            "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API "
            "group \"\" at the cluster scope");
  EXPECT_EQ(MessageFor("GET", "/api/v1/namespaces/a/pods", "limit=1&watch=true"),
            "pods is forbidden: User \"system:anonymous\" cannot watch resource \"pods\" in API "
            "group \"\" in the namespace \"a\"");
  EXPECT_EQ(MessageFor("PATCH", "/apis/batch.volcano.sh/v1alpha1/namespaces/a/jobs/j/status"),
            "jobs.batch.volcano.sh \"j\" is forbidden: User \"system:anonymous\" cannot patch "
            "resource \"jobs/status\" in API group \"batch.volcano.sh\" in the namespace \"a\"");
  EXPECT_EQ(MessageFor("DELETE", "/api/v1/nodes"),
            "nodes is forbidden: User \"system:anonymous\" cannot deletecollection resource "
            "\"nodes\" in API group \"\" at the cluster scope");
  EXPECT_EQ(MessageFor("GET", "/apis"),
            "forbidden: User \"system:anonymous\" cannot get path \"/apis\"");
}

}  // namespace
}  // namespace strata::apiserver
