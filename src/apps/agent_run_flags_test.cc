#include "apps/agent_run_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ParsedRun {
  AgentRunFlags flags;
  std::string problem;
};

ParsedRun ParseRun(std::vector<std::string> arguments) {
  ParsedRun parsed;
  CLI::App app("agent", "strata-agent");
  AddAgentRunCommand(app, parsed.flags);
  arguments.insert(arguments.begin(), "run");
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    parsed.problem = error.what();
  }
  return parsed;
}

TEST(AgentRunFlags, GiveNothingBesideGpusByDefault) {
  const ParsedRun parsed = ParseRun({});
  EXPECT_EQ(parsed.problem, "");
  const agent::AnswerOptions& answer = parsed.flags.plugin.answer;
  EXPECT_FALSE(parsed.flags.cdi || parsed.flags.numa || answer.pass_device_nodes);
  EXPECT_FALSE(answer.gdrcopy || answer.gds || answer.mofed);
  EXPECT_THAT(answer.imex_channels, IsEmpty());
  EXPECT_EQ(answer.cdi_vendor, "k8s.device-plugin.nvidia.com");
  EXPECT_EQ(answer.cdi_class, "gpu");
  EXPECT_THAT(parsed.flags.plugin.cdi_folders, ElementsAre("/etc/cdi", "/var/run/cdi"));
  EXPECT_EQ(parsed.flags.kubelet.address, "");
}

TEST(AgentRunFlags, ReachTheOptions) {
  const ParsedRun parsed = ParseRun({"--cdi",
                                     "--cdi-vendor=nvidia.com",
                                     "--cdi-class=card",
                                     "--cdi-dirs=/a,/b",
                                     "--device-nodes",
                                     "--gdrcopy",
                                     "--gds",
                                     "--mofed",
                                     "--imex-channels=0,2047",
                                     "--numa"});
  EXPECT_EQ(parsed.problem, "");
  const agent::AnswerOptions& answer = parsed.flags.plugin.answer;
  EXPECT_TRUE(parsed.flags.cdi && parsed.flags.numa && answer.pass_device_nodes);
  EXPECT_TRUE(answer.gdrcopy && answer.gds && answer.mofed);
  EXPECT_THAT(answer.imex_channels, ElementsAre(0, 2047));
  EXPECT_EQ(answer.cdi_vendor, "nvidia.com");
  EXPECT_EQ(answer.cdi_class, "card");
  EXPECT_THAT(parsed.flags.plugin.cdi_folders, ElementsAre("/a", "/b"));
}

TEST(AgentRunFlags, AreRefusedByName) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--cdi", "--cdi-vendor=a/b"}, "--cdi-vendor: \"a/b\" is not a CDI vendor"},
      {{"--cdi", "--cdi-class=g.pu"}, "--cdi-class: \"g.pu\" is not a CDI class"},
      {{"--cdi-vendor=nvidia.com"}, "--cdi-vendor requires --cdi"},
      {{"--cdi-dirs=/a"}, "--cdi-dirs requires --cdi"},
      {{"--imex-channels=2048"}, "--imex-channels"},
      {{"--imex-channels=x"}, "--imex-channels"},
      {{"--kubelet=10.0.0.7"}, "--kubelet: \"10.0.0.7\" is not an address"},
      {{"--kubelet-ca=/ca"}, "--kubelet-ca requires --kubelet"},
      {{"--kubelet-token=/t"}, "--kubelet-token requires --kubelet"},
      {{"--kubelet=https://k", "--kubelet-ca=/ca", "--kubelet-skip-tls-verify"}, "excludes"},
  };
  for (const auto& [arguments, expected] : cases) {
    EXPECT_THAT(ParseRun(arguments).problem, HasSubstr(expected)) << arguments.back();
  }
}

kube::ConnectionConfig ApiServerConfig() {
  kube::ConnectionConfig config;
  config.cluster.server = "https://api:6443";
  config.cluster.ca.file = "/cluster/ca.crt";
  config.cluster.tls_server_name = "kubernetes";
  config.cluster.proxy = "http://proxy";
  config.user.token.file = "/account/token";
  config.origin = "service account";
  return config;
}

TEST(KubeletConnection, HasTheCredentialsForTheApiServer) {
  const ParsedRun parsed = ParseRun({"--kubelet=https://10.0.0.7:10250"});
  ASSERT_EQ(parsed.problem, "");
  const kube::ConnectionConfig config = KubeletConnection(parsed.flags.kubelet, ApiServerConfig());
  EXPECT_EQ(config.cluster.server, "https://10.0.0.7:10250");
  EXPECT_EQ(config.cluster.ca.file, "/cluster/ca.crt");
  EXPECT_EQ(config.cluster.tls_server_name, "");
  EXPECT_EQ(config.cluster.proxy, "");
  EXPECT_FALSE(config.cluster.skip_tls_verify);
  EXPECT_EQ(config.user.token.file, "/account/token");
  EXPECT_EQ(config.origin, "the kubelet https://10.0.0.7:10250");
}

TEST(KubeletConnection, HasItsOwnWhereTheyAreGiven) {
  KubeletFlags flags{.address = "https://k", .ca = "/k/ca", .token = "/k/token"};
  kube::ConnectionConfig api = ApiServerConfig();
  api.user = {};
  api.user.certificate.file = "/c";
  const kube::ConnectionConfig config = KubeletConnection(flags, api);
  EXPECT_EQ(config.cluster.ca.file, "/k/ca");
  EXPECT_EQ(config.user.token.file, "/k/token");
  EXPECT_EQ(config.user.certificate.file, "");
  flags.ca = "";
  flags.skip_tls_verify = true;
  EXPECT_TRUE(KubeletConnection(flags, api).cluster.skip_tls_verify);
  EXPECT_TRUE(KubeletConnection(flags, api).cluster.ca.empty());
}

}  // namespace
}  // namespace strata
