#include "controllers/budget_reconcile.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata::controllers {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ObjectRef BudgetObject(const json& spec, const json& status = json::object()) {
  return std::make_shared<const json>(
      json{{"apiVersion", "policy/v1"},
           {"kind", "PodDisruptionBudget"},
           {"metadata", {{"name", "b"}, {"namespace", "ns"}, {"uid", "u"}, {"generation", 1}}},
           {"spec", spec},
           {"status", status}});
}

PodSeen HealthyPod(const std::string& name, const std::string& app = "web") {
  PodSeen pod;
  pod.key = {"ns", name};
  pod.labels = {{"app", app}};
  pod.phase = objects::PodPhase::kRunning;
  pod.ready = true;
  return pod;
}

const json kWebPods = {{"matchLabels", {{"app", "web"}}}};

json StatusIn(const Plan& plan) {
  return json::parse(plan.steps.at(0).at(0).body).at("status");
}

TEST(ReconcileBudget, CountsWhatItsPodsAllow) {
  PodSeen starting = HealthyPod("c");
  starting.ready = false;
  const Plan plan = ReconcileBudget(
      {.budget = BudgetObject({{"minAvailable", 1}, {"selector", kWebPods}}),
       .pods = {HealthyPod("a"), HealthyPod("b"), starting, HealthyPod("d", "db")}});
  EXPECT_EQ(StatusIn(plan),
            (json{{"observedGeneration", 1},
                  {"expectedPods", 3},
                  {"currentHealthy", 2},
                  {"desiredHealthy", 1},
                  {"disruptionsAllowed", 1}}));
}

TEST(ReconcileBudget, LeavesAStatusAloneThatIsTrue) {
  const json status = {{"observedGeneration", 1},
                       {"expectedPods", 1},
                       {"currentHealthy", 1},
                       {"desiredHealthy", 0},
                       {"disruptionsAllowed", 1}};
  EXPECT_THAT(ReconcileBudget(
                  {.budget = BudgetObject({{"maxUnavailable", 1}, {"selector", kWebPods}}, status),
                   .pods = {HealthyPod("a")}})
                  .steps,
              IsEmpty());
}

TEST(ReconcileBudget, APodOnItsWayOutIsNotHealthy) {
  PodSeen leaving = HealthyPod("b");
  leaving.being_deleted = true;
  const Plan plan =
      ReconcileBudget({.budget = BudgetObject({{"minAvailable", "50%"}, {"selector", kWebPods}}),
                       .pods = {HealthyPod("a"), leaving}});
  EXPECT_EQ(StatusIn(plan)["disruptionsAllowed"], 0);
}

TEST(ReconcileBudget, AnEvictedPodCountsAsGoneUntilItIs) {
  const json status = {{"disruptedPods", {{"a", "2026-01-01T00:00:00Z"}, {"gone", "x"}}}};
  const Plan plan = ReconcileBudget(
      {.budget = BudgetObject({{"minAvailable", 1}, {"selector", kWebPods}}, status),
       .pods = {HealthyPod("a"), HealthyPod("b")}});
  const json now = StatusIn(plan);
  EXPECT_EQ(now["currentHealthy"], 1);
  EXPECT_EQ(now["disruptionsAllowed"], 0);
  EXPECT_THAT(now["disruptedPods"], SizeIs(1));
  EXPECT_TRUE(now["disruptedPods"]["gone"].is_null());
}

TEST(ReconcileBudget, AnEmptySelectorMeansAllAndNoneMeansNobody) {
  const std::vector<PodSeen> pods = {HealthyPod("a"), HealthyPod("b", "db")};
  const Plan all = ReconcileBudget(
      {.budget = BudgetObject({{"minAvailable", 0}, {"selector", json::object()}}), .pods = pods});
  EXPECT_EQ(StatusIn(all)["expectedPods"], 2);
  const Plan none = ReconcileBudget({.budget = BudgetObject({{"minAvailable", 0}}), .pods = pods});
  EXPECT_EQ(StatusIn(none)["expectedPods"], 0);
}

}  // namespace
}  // namespace strata::controllers
