#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/agent/plugin_setup.h"

namespace strata::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RegistrationPlugin : public PluginTest,
                           public ::testing::WithParamInterface<FakeKubelet::Kind> {};

INSTANTIATE_TEST_SUITE_P(BothKubelets, RegistrationPlugin, BothKubelets(), NameOfKubelet);

TEST_P(RegistrationPlugin, WaitsForAKubeletAndServesForItsOwnerAlone) {
  StartAgent();
  StartKubelet(GetParam());
  ASSERT_TRUE(kubelet_->WaitForHealthy(kDevices));
  ASSERT_THAT(Sockets(), SizeIs(1));
  struct stat found {};
  ASSERT_EQ(::stat((plugins() + "/" + Sockets()[0]).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0700U);
  agent_.reset();
  EXPECT_THAT(Sockets(), IsEmpty());
}

// `make check-agent` has more of them.
TEST_P(RegistrationPlugin, ManyRegistrationsLeaveNoSocket) {
  const char* wanted = std::getenv("STRATA_REGISTRATIONS");  // NOLINT(concurrency-mt-unsafe)
  const int restarts = wanted == nullptr ? 100 : std::stoi(wanted);
  StartBoth(GetParam());
  for (int i = 0; i < restarts; ++i) {
    kubelet_->Restart();
    ASSERT_TRUE(kubelet_->WaitForHealthy(kDevices)) << i;
  }
  EXPECT_GE(kubelet_->registrations(), restarts);
  EXPECT_THAT(Sockets(), SizeIs(1));
  EXPECT_EQ(kubelet_->last_refusal(), "");
  agent_.reset();
  EXPECT_THAT(Sockets(), IsEmpty());
}

TEST_P(RegistrationPlugin, RegistersAgainWhenTheStreamIsCutOrTheSocketRemoved) {
  StartBoth(GetParam());
  kubelet_->CutStream();
  ASSERT_TRUE(kubelet_->WaitForHealthy(0));
  ASSERT_TRUE(kubelet_->WaitForHealthy(kDevices));
  const std::int64_t before = kubelet_->registrations();
  std::filesystem::remove(plugins() + "/" + Sockets().at(0));
  ASSERT_TRUE(kubelet_->WaitForHealthy(0));
  ASSERT_TRUE(kubelet_->WaitForHealthy(kDevices));
  EXPECT_GT(kubelet_->registrations(), before);
  EXPECT_EQ(kubelet_->last_refusal(), "");
}

TEST_P(RegistrationPlugin, SendsHealthWhenItChanges) {
  StartBoth(GetParam());
  const std::shared_ptr<agent::Machine> lost = MakeMachine(kSlots);
  lost->node.gpus[3].healthy = false;
  SetMachine(lost);
  ASSERT_TRUE(kubelet_->WaitForHealthy(kDevices - kSlots));
  SetMachine(MakeMachine(kSlots));
  ASSERT_TRUE(kubelet_->WaitForHealthy(kDevices));
  EXPECT_EQ(kubelet_->registrations(), 1);
}

TEST_P(RegistrationPlugin, LeavesTheNodeToAnotherPluginThatIsServed) {
  // HAMi's and NVIDIA's plugin have this socket.
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + plugins() + "/nvidia-gpu.sock",
                           grpc::InsecureServerCredentials());
  v1beta1::DevicePlugin::Service other;
  builder.RegisterService(&other);
  StartKubelet(GetParam());
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  StartAgent();
  WaitForLine("another device plugin");
  EXPECT_TRUE(agent_->status().foreign_plugin);
  EXPECT_EQ(kubelet_->registrations(), 0);
  server->Shutdown();
  server.reset();
  ASSERT_TRUE(kubelet_->WaitForHealthy(kDevices));
}

TEST_P(RegistrationPlugin, AnotherAgentOnTheMachineIsAnError) {
  StartBoth(GetParam());
  const auto second = agent::JournalFile::Open(folder_ + "/journal");
  ASSERT_FALSE(second.has_value());
  EXPECT_THAT(second.error().message, HasSubstr("in use by another process"));
}

}  // namespace
}  // namespace strata::testing
