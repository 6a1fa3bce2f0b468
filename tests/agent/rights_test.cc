// The rights in deploy/chart/rbac/agent.yaml are what the agent asks for: none is missing, none is
// left over. tests/kubernetes/rbac_test.py has the same for the other programs.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/known_pod.h"
#include "agent/node_agent.h"
#include "base/ascii.h"
#include "objects/yaml_to_json.h"
#include "tests/agent/gpu_agent_setup.h"

namespace strata::testing {
namespace {

// "list pods", "patch nodes", "list resourceslices.resource.k8s.io".
using Rights = std::set<std::string>;

// Hands requests on and writes down what right each takes.
class RecordingTransport final : public net::Transport {
 public:
  explicit RecordingTransport(net::Transport& next) : next_(next) {}

  [[nodiscard]] Rights rights() const {
    const MutexLock lock(mutex_);
    return rights_;
  }

  net::RequestId Send(net::ClientRequest request,
                      std::shared_ptr<net::Receiver> receiver) override {
    {
      const MutexLock lock(mutex_);
      rights_.insert(RightFor(request.message));
    }
    return next_.Send(std::move(request), std::move(receiver));
  }
  void Cancel(net::RequestId request) override { next_.Cancel(request); }
  void CloseConnections() override { next_.CloseConnections(); }
  [[nodiscard]] net::SteadyTime Now() const override { return next_.Now(); }
  [[nodiscard]] bool OnThread() const override { return next_.OnThread(); }
  void Post(std::function<void()> task) override { next_.Post(std::move(task)); }
  net::TimerId After(Duration delay, std::function<void()> task) override {
    return next_.After(delay, std::move(task));
  }
  void CancelTimer(net::TimerId timer) override { next_.CancelTimer(timer); }

 private:
  static std::string RightFor(const net::HttpRequest& request) {
    std::vector<std::string_view> words = Split(std::string_view(request.path).substr(1), '/');
    const bool core = words.at(0) == "api";
    const std::string group = core ? "" : "." + std::string(words.at(1));
    words.erase(words.begin(), words.begin() + (core ? 2 : 3));
    if (words.at(0) == "namespaces" && words.size() > 2) {
      words.erase(words.begin(), words.begin() + 2);
    }
    const std::string below = words.size() > 2 ? "/" + std::string(words[2]) : "";
    return VerbOf(request, words.size() > 1) + " " + std::string(words[0]) + below + group;
  }
  static std::string VerbOf(const net::HttpRequest& request, bool names_one) {
    if (request.method == "POST") return "create";
    if (request.method == "PATCH") return "patch";
    if (request.method != "GET") return request.method;
    return names_one ? "get" : "list";
  }

  net::Transport& next_;
  mutable Mutex mutex_;
  Rights rights_ GUARDED_BY(mutex_);
};

Rights RightsInTheChart() {
  std::ifstream file(std::filesystem::path(SOURCE_DIR) / "deploy/chart/rbac/agent.yaml");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto documents = objects::YamlToJson(text);
  EXPECT_TRUE(documents.has_value());
  Rights rights;
  for (const std::string& document : *documents) {
    const nlohmann::json role = ParseJsonOrNull(document);
    if (role["kind"] != "ClusterRole") continue;
    for (const nlohmann::json& rule : role["rules"]) {
      const std::string group = rule["apiGroups"].at(0);
      for (const nlohmann::json& resource : rule["resources"]) {
        for (const nlohmann::json& verb : rule["verbs"]) {
          rights.insert(verb.get<std::string>() + " " + resource.get<std::string>() +
                        (group.empty() ? "" : "." + group));
        }
      }
    }
  }
  return rights;
}

// On a kubelet without the Pods API, where the agent asks for most.
class AgentRights : public GpuAgentSetup {
 protected:
  AgentRights()
      : GpuAgentSetup("dgx1v", PodsApi::kNo),
        recorder_(connection_->client().reads()),
        recorded_(std::make_unique<kube::Client>(recorder_, recorder_, kube::ClientOptions{})) {}
  ~AgentRights() override { StopAgent(); }

  void Annotate(const std::string& key, const Json& value) {
    const Json patch = {{"metadata", {{"annotations", {{key, value}}}}}};
    ASSERT_TRUE(client().Do(
        kube::PatchCall({kube::kNodes, "", kNodeName, ""}, kube::PatchOptions{}, DumpJson(patch))));
  }
  // A pod that is bound here, with a record.
  Json BoundPod(const std::string& name, const std::string& uuid) {
    const Json container = {
        {"name", "main"}, {"image", "i"}, {"resources", {{"limits", {{"nvidia.com/gpu", "1"}}}}}};
    Create(kube::kPods,
           "default",
           {{"metadata",
             {{"name", name},
              {"annotations",
               {{"hami.io/vgpu-node", kNodeName},
                {"hami.io/vgpu-devices-allocated", uuid + ",NVIDIA,1000,10:;"},
                {"hami.io/vgpu-devices-to-allocate", uuid + ",NVIDIA,1000,10:;"},
                {"hami.io/bind-phase", "allocating"}}}}},
            {"spec", {{"nodeName", kNodeName}, {"containers", Json::array({container})}}}});
    return Get(kube::kPods, "default", name);
  }
  void WaitFor(const std::string& right) {
    while (!recorder_.rights().contains(right)) Get(kube::kNodes, "", kNodeName);
  }

  RecordingTransport recorder_;
  std::unique_ptr<kube::Client> recorded_;
};

TEST_F(AgentRights, AreWhatItAsksFor) {
  // Somebody else has registered the GPUs: an Event says so, and once more.
  Annotate("hami.io/node-nvidia-register", "[]");
  StartAgent(*recorded_);
  WaitFor("patch events");
  Annotate("hami.io/node-nvidia-register", nullptr);
  WaitForAnnotation(kube::kNodes, "", kNodeName, "strata.sh/agent", R"("identity":"lock")");

  // A pod by the lock of the Node.
  Annotate("hami.io/mutex.lock", "2026-01-01T00:00:00Z,default,train");
  const auto known = agent::ReadPodList(
      DumpJson({{"items", Json::array({BoundPod("train", "GPU-fake-3")})}}), "nvidia.com/gpu");
  ASSERT_TRUE(known.has_value());
  ASSERT_TRUE(kubelet_->WaitForHealthy(8));
  const FakeKubelet::Outcome outcome = kubelet_->Admit(known->front());
  ASSERT_EQ(outcome.end, FakeKubelet::Outcome::End::kAdmitted) << outcome.error;
  WaitForAnnotation(kube::kPods, "default", "train", "hami.io/bind-phase", "success");
  while (ObjectAt(Get(kube::kNodes, "", kNodeName), {"metadata", "annotations"})
             .contains("hami.io/mutex.lock")) {
  }
  StopAgent();
  ASSERT_TRUE(agent::Withdraw(*recorded_, kNodeName));
  EXPECT_EQ(recorder_.rights(), RightsInTheChart());
}

}  // namespace
}  // namespace strata::testing
