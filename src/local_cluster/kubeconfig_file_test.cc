#include "local_cluster/kubeconfig_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Kubeconfig, NamesServerAuthorityAndToken) {
  const std::string text = RenderKubeconfig({"https://127.0.0.1:8443", "PEM", "secret"});
  EXPECT_THAT(text, HasSubstr("server: \"https://127.0.0.1:8443\"\n"));
  EXPECT_THAT(text, HasSubstr("certificate-authority-data: UEVN\n"));
  EXPECT_THAT(text, HasSubstr("token: secret\n"));
  EXPECT_THAT(text, HasSubstr("current-context: strata\n"));
}

TEST(Kubeconfig, OfPlainHttpHasNeitherAuthorityNorToken) {
  const std::string text = RenderKubeconfig({"http://127.0.0.1:80", "", ""});
  EXPECT_THAT(text, Not(HasSubstr("certificate")));
  EXPECT_THAT(text, Not(HasSubstr("token")));
}

}  // namespace
}  // namespace strata
