#include "kube/kubeconfig.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr std::string_view kDev = R"(
apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: one
  cluster: {server: "https://one:6443", certificate-authority-data: Y2E=}
contexts:
- name: dev
  context: {cluster: one, user: me, namespace: team}
users:
- name: me
  user: {client-certificate: crt.pem, client-key-data: a2V5}
)";

struct Machine {
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> files;

  [[nodiscard]] Surroundings Outside() const {
    return {[this](const std::string& name) -> std::optional<std::string> {
              const auto found = variables.find(name);
              return found == variables.end() ? std::nullopt : std::optional(found->second);
            },
            [this](const std::string& path) -> Result<std::string> {
              const auto found = files.find(path);
              if (found == files.end()) return Fail(Code::kNotFound, path + ": no such file");
              return found->second;
            }};
  }
};

// That of the file, or of the first of its parts that has one.
std::string ErrorOf(std::string_view text) {
  const std::vector<ConfigText> texts = {{"/c", std::string(text)}};
  const auto config = ParseKubeconfigs(texts);
  if (!config) return config.error().message;
  for (const auto& [name, cluster] : config->clusters) {
    if (!cluster) return cluster.error().message;
  }
  for (const auto& [name, user] : config->users) {
    if (!user) return user.error().message;
  }
  return "";
}

TEST(Kubeconfig, ReadsTheCurrentContextOfTheUsersFile) {
  const Machine machine{{{"HOME", "/home/u"}}, {{"/home/u/.kube/config", std::string(kDev)}}};
  const auto found = FindConnection({}, machine.Outside());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->cluster.server, "https://one:6443");
  EXPECT_EQ(found->cluster.ca.text, "ca");
  EXPECT_EQ(found->ns, "team");
  EXPECT_EQ(found->user.certificate.file, "/home/u/.kube/crt.pem");
  EXPECT_EQ(found->user.key.text, "key");
  EXPECT_EQ(found->origin, "context dev of /home/u/.kube/config");
}

TEST(Kubeconfig, MergesTheFilesOfTheVariableAndTheFirstCounts) {
  const Machine machine{
      {{"KUBECONFIG", "/none:/a/x::/b/y"}, {"HOME", "/home/u"}},
      {{"/a/x",
        "{users: [{name: me, user: {tokenFile: t, token: old}}], clusters: null, "
        "contexts: [{name: prod, context: {cluster: one, user: me}}], current-context: ''}"},
       {"/b/y", std::string(kDev)}}};
  const auto dev = FindConnection({}, machine.Outside());
  ASSERT_TRUE(dev) << dev.error().message;
  EXPECT_EQ(dev->origin, "context dev of /b/y");
  EXPECT_EQ(dev->user.token.file, "/a/t");
  EXPECT_EQ(dev->user.token.text, "");
  const auto prod = FindConnection({"", "prod", "http://other"}, machine.Outside());
  ASSERT_TRUE(prod) << prod.error().message;
  EXPECT_EQ(prod->ns, "default");
  EXPECT_EQ(prod->cluster.server, "http://other");
}

TEST(Kubeconfig, TheFlagGoesBeforeEverythingAndMustExist) {
  const Machine machine{{{"KUBECONFIG", "/b/y"}}, {{"/b/y", std::string(kDev)}}};
  const auto found = FindConnection({"/missing", "", ""}, machine.Outside());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message, "/missing: no such file");
}

TEST(Kubeconfig, APodFindsItsOwnCluster) {
  const std::string account = "/var/run/secrets/kubernetes.io/serviceaccount/";
  const Machine machine{
      {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}},
      {{account + "namespace", "system\n"}}};
  const auto found = FindConnection({}, machine.Outside());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->cluster.server, "https://[fd00::1]:443");
  EXPECT_EQ(found->cluster.ca.file, account + "ca.crt");
  EXPECT_EQ(found->user.token.file, account + "token");
  EXPECT_EQ(found->ns, "system");
}

TEST(Kubeconfig, WithoutAnyConfigurationTheErrorSaysWhatToDo) {
  const auto found = FindConnection({}, Machine{}.Outside());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "no cluster: give --kubeconfig, set KUBECONFIG, or create ~/.kube/config");
}

TEST(Kubeconfig, ReadsExecPlugins) {
  const std::vector<ConfigText> texts = {{"/k/c", R"(
current-context: a
clusters: [{name: a, cluster: {server: s, proxy-url: "http://p", tls-server-name: host-n}}]
contexts: [{name: a, context: {cluster: a, user: a}}]
users:
- name: a
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: bin/login
      args: [-v, "1"]
      env: [{name: A, value: b}]
      interactiveMode: Never
      provideClusterInfo: true
)"}};
  const auto found = ChooseContext(*ParseKubeconfigs(texts), "");
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(found->user.exec);
  EXPECT_EQ(found->user.exec->command, "/k/bin/login");
  EXPECT_THAT(found->user.exec->arguments, ElementsAre("-v", "1"));
  EXPECT_THAT(found->user.exec->environment, ElementsAre(Pair("A", "b")));
  EXPECT_TRUE(found->user.exec->needs_cluster_info);
  EXPECT_EQ(found->cluster.proxy, "http://p");
  EXPECT_EQ(found->cluster.tls_server_name, "host-n");
}

TEST(Kubeconfig, ErrorsNameFileAndFieldAndNeverTheValue) {
  EXPECT_EQ(ErrorOf("users: [{name: a, user: {token: 12345}}]"),
            "/c: users[0].user.token: want a string");
  EXPECT_EQ(ErrorOf("users: [{name: a, user: {client-key-data: s3cret!}}]"),
            "/c: users[0].user.client-key-data: want base64");
  EXPECT_EQ(ErrorOf("clusters: 7"), "/c: clusters: want a list");
  EXPECT_EQ(ErrorOf("[]"), "/c: want an object");
  EXPECT_EQ(ErrorOf("users: [{name: a, user: {client-certificate: x}}]"),
            "/c: users[0].user: want client-certificate and client-key together");
  EXPECT_EQ(ErrorOf("users: [{name: a, user: {token: x, username: me}}]"),
            "/c: users[0].user: want a token or a username, not both");
  EXPECT_EQ(ErrorOf("users: [{name: a, user: {as: root}}]"),
            "/c: users[0].user.as: want no impersonation: it is not supported");
  EXPECT_EQ(ErrorOf("users: [{name: a}, {name: a}]"), "/c: users[1]: want a name that is new");
  EXPECT_EQ(ErrorOf("clusters: [{name: a, cluster: {insecure-skip-tls-verify: true, "
                    "certificate-authority: x}}]"),
            "/c: clusters[0].cluster: want a certificate authority or insecure-skip-tls-verify, "
            "not both");
  EXPECT_THAT(ErrorOf("users: [{name: a, user: {exec: {command: x}}}]"), HasSubstr("apiVersion"));
  EXPECT_THAT(ErrorOf("users: [{name: a, user: {token: \"s3cret\n"), Not(HasSubstr("s3cret")));
}

TEST(Kubeconfig, AnInvalidEntryMattersOnlyWhereItIsUsed) {
  const std::vector<ConfigText> texts = {{"/c", R"(
users: [{name: old, user: {auth-provider: {name: gcp}}}, {name: me, user: {token: t}}]
clusters: [{cluster: {server: 7}, name: odd}, {name: c, cluster: {server: "https://h"}}]
contexts: [{name: good, context: {cluster: c, user: me}}, {name: list, context: []},
           {name: bad, context: {cluster: c, user: old}}, {name: worse, context: {cluster: odd}}]
)"}};
  const auto config = ParseKubeconfigs(texts);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(ChooseContext(*config, "good")->user.token.text, "t");
  EXPECT_EQ(ChooseContext(*config, "bad").error().message,
            "/c: users[0].user.auth-provider: want exec: auth-provider is no longer supported");
  EXPECT_EQ(ChooseContext(*config, "worse").error().message,
            "/c: clusters[0].cluster.server: want a string");
  EXPECT_EQ(ChooseContext(*config, "list").error().message,
            "/c: contexts[1].context: want an object");
}

TEST(Kubeconfig, ATokenIsOneLineOfText) {
  for (const char* token : {R"("a\nb")", R"("a\rb")", R"("a\0b")"}) {
    EXPECT_EQ(ErrorOf(std::string("users: [{name: a, user: {token: ") + token + "}}]"),
              "/c: users[0].user.token: want a token, in one line of text");
  }
  EXPECT_EQ(ErrorOf("users: [{name: a, user: {token: \"t\\n\"}}]"), "") << "a last line end goes";
}

TEST(Kubeconfig, WhatAContextNamesMustBeThere) {
  const auto choose = [](const std::string& text, std::string_view context) {
    const std::vector<ConfigText> texts = {{"/c", text}};
    const auto found = ChooseContext(*ParseKubeconfigs(texts), context);
    return found ? "" : found.error().message;
  };
  EXPECT_EQ(choose("{}", ""), "/c: current-context is not set: choose one with --context");
  EXPECT_EQ(choose("{}", "x"), "/c: there is no context \"x\"");
  const std::string lone = "contexts: [{name: x, context: {cluster: c, user: u}}]\n";
  EXPECT_EQ(choose(lone, "x"), "context x of /c: there is no cluster \"c\"");
  EXPECT_EQ(choose(lone + "clusters: [{name: c, cluster: {}}]", "x"),
            "context x of /c: there is no user \"u\"");
  EXPECT_EQ(choose("contexts: [{name: x, context: {cluster: c}}]\n"
                   "clusters: [{name: c, cluster: {}}]",
                   "x"),
            "context x of /c: cluster c has no server");
}

}  // namespace
}  // namespace strata::kube
