#include "local_cluster/embedded_api_server.h"

#include <unistd.h>

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kube/connection.h"
#include "local_cluster/manifests.h"
#include "local_cluster/system_objects.h"

namespace strata {
namespace {

using testing::HasSubstr;

std::filesystem::path FolderOfTest() {
  return std::filesystem::path(testing::TempDir()) / ("embedded" + std::to_string(getpid()));
}

// A server with its data in `folder`, and a client that reads the kubeconfig it wrote.
class Served {
 public:
  explicit Served(const std::filesystem::path& folder) {
    settings_.data_dir = folder / "data";
    settings_.kubeconfig = folder / "kubeconfig";
    std::promise<void> serving;
    thread_ = std::thread([this, &serving] {
      outcome_ =
          server_.Run({}, {.serving = [&serving] { serving.set_value(); }, .interrupted = {}});
    });
    serving.get_future().wait();
    const kube::Surroundings outside = kube::SystemSurroundings();
    kube::ConnectionFlags flags;
    flags.kubeconfig = settings_.kubeconfig;
    const auto config = kube::FindConnection(flags, outside);
    EXPECT_TRUE(config) << config.error().message;
    auto connection = kube::Connection::Open(*config, {}, outside);
    EXPECT_TRUE(connection) << connection.error().message;
    connection_ = *std::move(connection);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() {
    connection_.reset();
    server_.End({});
    thread_.join();
    EXPECT_TRUE(outcome_) << outcome_.error().message;
  }

  kube::Client& client() { return connection_->client(); }
  [[nodiscard]] std::string token() const { return server_.access().token; }
  nlohmann::json Get(const kube::ResourcePath& path) {
    const kube::Reply reply = client().Do(kube::GetCall(path));
    return reply ? nlohmann::json::parse(*reply) : nlohmann::json(reply.error().error.message);
  }

 private:
  ServerSettings settings_;
  EmbeddedApiServer server_{settings_};
  Status outcome_;
  std::thread thread_;
  std::unique_ptr<kube::Connection> connection_;
};

class EmbeddedApiServerTest : public testing::Test {
 protected:
  EmbeddedApiServerTest() { std::filesystem::remove_all(folder_); }
  ~EmbeddedApiServerTest() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ = FolderOfTest();
};

Manifest ManifestFrom(const char* text) {
  return ManifestsOf("f.yaml", nlohmann::json::parse(text)).front();
}

TEST_F(EmbeddedApiServerTest, KeepsObjectsAndTokenFromRunToRun) {
  std::string token;
  {
    Served served(folder_);
    token = served.token();
    ASSERT_TRUE(CreateSystemObjects(served.client(), Time{}));
    ASSERT_TRUE(CreateSystemObjects(served.client(), Time{}));  // what exists is kept
  }
  Served again(folder_);
  EXPECT_EQ(again.token(), token);
  const auto pod =
      again.Get({kube::kPods, std::string(kSystemNamespace), std::string(kSchedulerPod), ""});
  EXPECT_EQ(pod["status"]["phase"], "Running") << pod;
  const auto map = again.Get(
      {kube::kConfigMaps, std::string(kSystemNamespace), "volcano-scheduler-configmap", ""});
  EXPECT_EQ(map["data"]["volcano-scheduler.conf"], DefaultSchedulerConf());
}

TEST_F(EmbeddedApiServerTest, TakesManifestsInAnyOrder) {
  Served served(folder_);
  const std::vector<Manifest> manifests = {
      ManifestFrom(
          R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "ml"},
                       "spec": {"containers": [{"name": "c", "image": "i"}]}})"),
      ManifestFrom(R"({"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue",
                       "metadata": {"name": "team"}, "spec": {"weight": 1}})")};
  const Status applied = ApplyManifests(served.client(), manifests, objects::OnFault::kFail);
  ASSERT_TRUE(applied) << applied.error().message;
  ASSERT_TRUE(ApplyManifests(
      served.client(), manifests, objects::OnFault::kFail));  // a second time changes nothing
  EXPECT_EQ(served.Get({kube::kPods, "ml", "p", ""})["metadata"]["name"], "p");
  EXPECT_EQ(served.Get({kube::kQueues, "", "team", ""})["spec"]["weight"], 1);
}

TEST_F(EmbeddedApiServerTest, NamesFileAndObjectThatIsRejected) {
  Served served(folder_);
  const Status unknown = ApplyManifests(
      served.client(),
      {ManifestFrom(R"({"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "t"}})")},
      objects::OnFault::kFail);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "f.yaml: Thing t: the server does not serve kind Thing of v1");
  const Status invalid = ApplyManifests(
      served.client(),
      {ManifestFrom(
          R"({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {}})")},
      objects::OnFault::kFail);
  ASSERT_FALSE(invalid);
  EXPECT_THAT(invalid.error().message, HasSubstr("f.yaml: Pod p: "));
}

TEST_F(EmbeddedApiServerTest, FillsWithAGeneratedCluster) {
  Served served(folder_);
  const auto spec = virtual_nodes::ParseGenerateSpec("spines=1,racks=2,nodes=3");
  ASSERT_TRUE(spec) << spec.error().message;
  ASSERT_TRUE(CreateGenerated(served.client(), *spec, Time{}));
  ASSERT_TRUE(CreateGenerated(served.client(), *spec, Time{}));  // what exists is kept
  EXPECT_EQ(served.Get({kube::kNodes, "", "", ""})["items"].size(), 6U);
}

}  // namespace
}  // namespace strata
