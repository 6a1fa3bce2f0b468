#include "apps/page_link.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

constexpr const char* kConfig = R"(
apiVersion: v1
kind: Config
current-context: up
clusters: [{name: up, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: up, user: {}}]
contexts: [{name: up, context: {cluster: up, user: up}}]
)";

kube::Surroundings With(const std::string& page) {
  return {.variable = [](const std::string&) { return std::nullopt; },
          .read = [page](const std::string& path) -> Result<std::string> {
            if (path == "/run/strata/kubeconfig") return std::string(kConfig);
            if (path == "/run/strata/page" && !page.empty()) return page;
            return Fail(Code::kNotFound, "no such file");
          }};
}

TEST(PageLink, KeepsTheTokenAndNamesTheJob) {
  EXPECT_EQ(LinkToJob("http://127.0.0.1:80/#token=ab", "ml/train"),
            "http://127.0.0.1:80/#/jobs?job=ml/train&token=ab");
  EXPECT_EQ(LinkToJob("http://127.0.0.1:80/", "ml/a b"), "http://127.0.0.1:80/#/jobs?job=ml/a%20b");
}

TEST(PageLink, IsFoundBesideTheKubeconfig) {
  const kube::ConnectionFlags flags{
      .kubeconfig = "/run/strata/kubeconfig", .context = "", .server = ""};
  EXPECT_EQ(FindPage(flags, With("http://127.0.0.1:80/#token=ab\n")),
            "http://127.0.0.1:80/#token=ab");
  EXPECT_EQ(FindPage(flags, With("")), "");
  EXPECT_EQ(FindPage(flags, With("something else")), "");
}

}  // namespace
}  // namespace strata
