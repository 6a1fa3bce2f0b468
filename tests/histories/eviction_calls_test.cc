// The same as calls_test.cc for the calls of an eviction: every fault, with a leader that stays and
// with one that is killed, and the gang of higher priority starts in the room of the others.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "json/access.h"
#include "tests/histories/call_table.h"
#include "tests/histories/paths.h"

namespace strata::histories {
namespace {

using nlohmann::json;
using std::chrono::seconds;

constexpr const char* kBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

// A Job and a gang of low priority fill the cluster; a budget is asked for the pods of the gang. A
// gang of high priority comes and needs all of it.
class FullCluster final : public CalledCluster {
 public:
  explicit FullCluster(std::vector<CallCase> cases) : CalledCluster(std::move(cases)) {
    for (const char* node : {"node-0", "node-1"}) AddNode(node, {{"cpu", "4"}, {"pods", "110"}});
    AddPriority("low", 1);
    AddPriority("high", 100);
    AddConfiguration();
    AddBudget();
    After(seconds(5), [this] {
      CreateJob("old", 2, 2, "low");
      json pod = PodOf(2);
      pod["metadata"]["labels"]["app"] = "kept";
      CreateGang("kept", 2, pod, "low");
    });
    // What has run for a minute may go.
    After(seconds(90), [this] { CreateGang("high", 2, PodOf(4), "high"); });
  }

 private:
  [[nodiscard]] Duration QuietTime() const override { return seconds(150); }

  void AddPriority(const char* name, int value) {
    json priority = {{"apiVersion", "scheduling.k8s.io/v1"}, {"kind", "PriorityClass"}};
    priority["metadata"]["name"] = name;
    priority["value"] = value;
    Create("/apis/scheduling.k8s.io/v1/priorityclasses", priority);
  }
  void AddConfiguration() {
    json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
    map["metadata"]["name"] = "volcano-scheduler-configmap";
    map["data"]["volcano-scheduler.conf"] =
        "actions: enqueue, allocate, gangpreempt, backfill\n"
        "tiers: [{plugins: [{name: priority}, {name: gang}, {name: predicates}]}]\n";
    Create("/api/v1/namespaces/volcano-system/configmaps", map);
  }
  void AddBudget() {
    json budget = {{"apiVersion", "policy/v1"}, {"kind", "PodDisruptionBudget"}};
    budget["metadata"]["name"] = "kept";
    budget["spec"] = {{"minAvailable", 0}, {"selector", {{"matchLabels", {{"app", "kept"}}}}}};
    Create(kBudgets, budget);
    server().Ask("PATCH",
                 fmt::format("{}/kept/status", kBudgets),
                 {{"status",
                   {{"observedGeneration", 1},
                    {"disruptionsAllowed", 10},
                    {"currentHealthy", 10},
                    {"desiredHealthy", 0},
                    {"expectedPods", 10}}}});
  }

  // A pod that is asked to go is gone a second later.
  std::string State() override {
    std::string text;
    const json pods = server().Get(kPods);
    for (const json& pod : ListAt(pods, {"items"})) {
      const std::string& name = TextAt(pod, {"metadata", "name"});
      const std::string& phase = TextAt(pod, {"status", "phase"});
      const bool bound = !TextAt(pod, {"spec", "nodeName"}).empty();
      const bool goes = !TextAt(pod, {"metadata", "deletionTimestamp"}).empty();
      text += fmt::format("pod {} {} {}{}{}\n",
                          name,
                          phase,
                          bound ? "bound" : "waits",
                          goes ? " goes" : "",
                          IsMarked(pod) ? " marked" : "");
      if (goes) {
        const json now = {{"gracePeriodSeconds", 0},
                          {"preconditions", {{"uid", TextAt(pod, {"metadata", "uid"})}}}};
        server().Ask("DELETE", fmt::format("{}/{}", kPods, name), now);
      } else if (bound && phase != "Running") {
        SetRunning(name);
      }
    }
    return text + StateOfGroups() + StateOfJobs();
  }
  static bool IsMarked(const json& pod) {
    for (const json& condition : ListAt(pod, {"status", "conditions"})) {
      const bool is_true = TextAt(condition, {"status"}) == "True";
      if (is_true && TextAt(condition, {"type"}) == "DisruptionTarget") return true;
    }
    return false;
  }
};

bool IsOfAnEviction(const std::string& call) {
  return call == "scheduler DELETE pods" || call == "scheduler POST pods/eviction" ||
         call == "scheduler PATCH pods/status" || call == "scheduler POST pods/binding" ||
         call == "controllers POST pods" || call.find("poddisruptionbudgets") != std::string::npos;
}

TEST(EvictionCalls, EndInTheSameStateWhateverHappensToOneOfThem) {
  CallTable table([](auto cases) { return std::make_unique<FullCluster>(std::move(cases)); },
                  IsOfAnEviction);
  ASSERT_NE(table.wanted().find("pod high-1 Running bound\n"), std::string::npos) << table.wanted();
  ASSERT_NE(table.wanted().find("pod old-w-1 Pending waits\n"), std::string::npos)
      << table.wanted();
  ASSERT_EQ(table.wanted().find("kept-"), std::string::npos) << table.wanted();
  for (const char* call : {"scheduler DELETE pods", "scheduler POST pods/eviction"}) {
    ASSERT_TRUE(table.table().contains(call)) << call;
  }
  table.RunAll();
}

}  // namespace
}  // namespace strata::histories
