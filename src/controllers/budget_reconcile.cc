#include "controllers/budget_reconcile.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "controllers/cluster_objects.h"
#include "controllers/object_meta.h"
#include "json/access.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using objects::PodDisruptionBudget;

// What a percentage leaves over counts as one more pod.
std::int64_t InPods(const PodDisruptionBudget::Amount& amount, std::int64_t expected) {
  if (const auto* percent = std::get_if<PodDisruptionBudget::Percent>(&amount)) {
    return (expected * percent->value + 99) / 100;
  }
  return std::get<std::int32_t>(amount);
}

std::int64_t DesiredHealthy(const PodDisruptionBudget& budget, std::int64_t expected) {
  if (budget.max_unavailable) {
    return std::max<std::int64_t>(expected - InPods(*budget.max_unavailable, expected), 0);
  }
  return budget.min_available ? InPods(*budget.min_available, expected) : 0;
}

}  // namespace

Plan ReconcileBudget(const BudgetView& view) {
  const std::optional<PodDisruptionBudget> budget = BudgetFrom(*view.budget);
  if (!budget) return {};
  const json& disrupted = ObjectAt(*view.budget, {"status", "disruptedPods"});
  json still_disrupted = json::object();
  std::int64_t expected = 0;
  std::int64_t healthy = 0;
  for (const PodSeen& pod : view.pods) {
    if (!budget->selector || !budget->selector->Matches(pod.labels) || pod.finished()) continue;
    ++expected;
    if (pod.being_deleted) continue;
    if (const auto it = disrupted.find(pod.key.name); it != disrupted.end()) {
      still_disrupted[pod.key.name] = *it;
    } else if (pod.ready) {
      ++healthy;
    }
  }
  const std::int64_t desired = DesiredHealthy(*budget, expected);
  json status = json::object();
  const auto set = [&](const char* key, std::int64_t value) {
    const json* known = FindAt(*view.budget, {"status", key});
    if (known == nullptr || *known != value) status[key] = value;
  };
  set("observedGeneration", IntegerAt(*view.budget, {"metadata", "generation"}));
  set("expectedPods", expected);
  set("currentHealthy", healthy);
  set("desiredHealthy", desired);
  set("disruptionsAllowed", std::max<std::int64_t>(healthy - desired, 0));
  for (const auto& [pod, since] : disrupted.items()) {
    if (!still_disrupted.contains(pod)) status["disruptedPods"][pod] = nullptr;
  }
  Plan plan;
  if (status.empty()) return plan;
  Write write = PatchOf(kube::kDisruptionBudgets, *view.budget, {{"status", std::move(status)}});
  write.subresource = "status";
  AddStep(plan, {std::move(write)});
  return plan;
}

}  // namespace strata::controllers
