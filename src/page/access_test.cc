#include "page/access.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "page/responses.h"

namespace strata::page {
namespace {

net::HttpRequest Get(const std::string& path, std::vector<net::Header> headers) {
  headers.push_back({"Host", "127.0.0.1:8090"});
  return {.method = "GET", .path = path, .query = "", .headers = std::move(headers), .body = ""};
}

// The code of the refusal, 0 for none.
int CodeOf(const net::HeadVerdict& verdict) {
  return verdict.refusal ? verdict.refusal->status : 0;
}

std::string HeaderOf(const net::HttpResponse& response, const std::string& name) {
  for (const net::Header& header : response.headers) {
    if (header.name == name) return header.value;
  }
  return "";
}

TEST(Access, NeedsTheTokenForData) {
  const net::HeadCheck check = CheckAccess("secret");
  EXPECT_EQ(CodeOf(check(Get("/page/v1/cluster", {{"Authorization", "Bearer secret"}}))), 0);
  EXPECT_EQ(CodeOf(check(Get("/page/v1/cluster", {{"Authorization", "Bearer secre"}}))), 401);
  EXPECT_EQ(CodeOf(check(Get("/page/v1/cluster", {{"Authorization", "Basic secret"}}))), 401);
  EXPECT_EQ(CodeOf(check(Get("/page/v1/cluster", {}))), 401);
  EXPECT_EQ(CodeOf(check(Get("/page/v1/events", {}))), 401);
}

TEST(Access, GivesTheFilesOfThePageToEverybody) {
  const net::HeadVerdict verdict = CheckAccess("secret")(Get("/", {}));
  EXPECT_EQ(CodeOf(verdict), 0);
  EXPECT_EQ(verdict.caller, net::HeadVerdict::Caller::kStranger);
}

TEST(Access, WithoutATokenNeedsNone) {
  EXPECT_EQ(CodeOf(CheckAccess("")(Get("/page/v1/cluster", {}))), 0);
}

TEST(Access, RefusesPagesOfOtherServersEvenWithTheToken) {
  const net::HeadCheck check = CheckAccess("secret");
  const net::Header token = {"Authorization", "Bearer secret"};
  EXPECT_EQ(CodeOf(check(Get("/page/v1/hello", {token, {"Origin", "http://evil.example"}}))), 403);
  EXPECT_EQ(CodeOf(check(Get("/page/v1/hello", {token, {"Origin", "http://127.0.0.1:8090"}}))), 0);
  net::HttpRequest rebound = Get("/page/v1/hello", {token});
  rebound.headers.back().value = "evil.example:8090";
  EXPECT_EQ(CodeOf(check(rebound)), 403);
  rebound.path = "/";
  EXPECT_EQ(CodeOf(check(rebound)), 403);
  rebound.headers.back().value = "localhost:8090";
  EXPECT_EQ(CodeOf(check(rebound)), 0);
}

TEST(Access, RefusesWithTheHeadersOfEveryAnswer) {
  const net::HeadVerdict verdict = CheckAccess("secret")(Get("/page/v1/hello", {}));
  ASSERT_TRUE(verdict.refusal);
  EXPECT_TRUE(
      HeaderOf(*verdict.refusal, "Content-Security-Policy").starts_with("default-src 'none'"));
  EXPECT_EQ(HeaderOf(*verdict.refusal, "Cache-Control"), "no-store");
  EXPECT_NE(verdict.refusal->body.find(R"("kind":"Status")"), std::string::npos);
}

TEST(Access, TokensAreLongAndNeverTheSame) {
  EXPECT_EQ(NewToken().size(), 64U);
  EXPECT_NE(NewToken(), NewToken());
}

}  // namespace
}  // namespace strata::page
