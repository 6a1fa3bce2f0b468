#include "apiserver/request/origin_gate.h"

#include <string>

#include <gtest/gtest.h>

namespace strata::apiserver {
namespace {

int StatusFor(Reach reach, const std::string& host, const std::string& origin = "") {
  net::HttpRequest request{
      .method = "POST", .path = "/api/v1/pods", .query = "", .headers = {}, .body = {}};
  if (!host.empty()) request.headers.push_back({"Host", host});
  if (!origin.empty()) request.headers.push_back({"Origin", origin});
  const net::HeadVerdict verdict = RefuseForeignPages(reach)(request);
  return verdict.refusal ? verdict.refusal->status : 200;
}

TEST(OriginGate, PassesRequestsOfTools) {
  for (const char* const host :
       {"127.0.0.1:8080", "localhost:8080", "LOCALHOST", "[::1]:8080", "10.0.0.1", ""}) {
    EXPECT_EQ(StatusFor(Reach::kLoopback, host), 200) << host;
  }
  EXPECT_EQ(StatusFor(Reach::kNetwork, "node-1:8080"), 200);
}

TEST(OriginGate, RejectsPagesOfOtherOrigins) {
  EXPECT_EQ(StatusFor(Reach::kLoopback, "127.0.0.1:8080", "http://evil.example"), 403);
  EXPECT_EQ(StatusFor(Reach::kNetwork, "node-1:8080", "http://evil.example"), 403);
  EXPECT_EQ(StatusFor(Reach::kLoopback, "127.0.0.1:8080", "null"), 403);
  EXPECT_EQ(StatusFor(Reach::kLoopback, "127.0.0.1:8080", "http://127.0.0.1:9999"), 403);
  EXPECT_EQ(StatusFor(Reach::kLoopback, "127.0.0.1:8080", "http://127.0.0.1:8080"), 200);
}

TEST(OriginGate, RefusesNamesThatWerePointedHere) {
  for (const char* const host :
       {"evil.example:8080", "localhost.evil.example", "127.0.0.1.nip.io"}) {
    EXPECT_EQ(StatusFor(Reach::kLoopback, host), 403) << host;
  }
}

}  // namespace
}  // namespace strata::apiserver
