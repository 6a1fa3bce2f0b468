#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/lifecycle/deletion.h"
#include "apiserver/lifecycle/object_write.h"
#include "apiserver/request/body.h"
#include "apiserver/request/label_selector.h"
#include "apiserver/request/query_options.h"
#include "apiserver/verbs/subresources.h"
#include "json/access.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

ApiError OverBudget(const json& budget) {
  ApiError error;
  error.code = 429;
  error.reason = "TooManyRequests";
  error.message = "Cannot evict pod as it would violate the pod's disruption budget.";
  error.causes.push_back(
      {"",
       "DisruptionBudget",
       fmt::format("The disruption budget {} needs {} healthy pods and has {} currently",
                   TextAt(budget, {"metadata", "name"}),
                   IntegerAt(budget, {"status", "desiredHealthy"}),
                   IntegerAt(budget, {"status", "currentHealthy"}))});
  return error;
}

// A budget protects pods that run; one that waits or has ended may go.
bool PassesBudgets(const json& pod) {
  const std::string& phase = TextAt(pod, {"status", "phase"});
  return phase == "Pending" || phase == "Succeeded" || phase == "Failed" ||
         FindAt(pod, {"metadata", "deletionTimestamp"}) != nullptr;
}

struct Budget {
  ObjectRef stored;
  json value;
};

std::vector<Budget> BudgetsOf(const ServerState& state,
                              const Resource& budgets,
                              const StoredObject& pod) {
  std::vector<Budget> found;
  std::vector<std::string> names;
  state.store.VisitLatest(budgets.FullName(), pod.ns, [&](const StoredObject& object) {
    names.push_back(object.name);
    return true;
  });
  for (std::string& name : names) {
    ObjectRef stored = state.store.GetLatest(KeyOf(budgets, pod.ns, std::move(name)));
    json value = ParseWithKind(budgets, *stored);
    const json* selector = FindAt(value, {"spec", "selector"});
    if (selector != nullptr && SelectorObjectMatches(*selector, pod.labels)) {
      found.push_back({std::move(stored), std::move(value)});
    }
  }
  return found;
}

// Takes one disruption from the pod's budget; an error when there is none left.
ApiResult<void> Spend(ServerState& state, const Call& call, const StoredObject& pod, bool dry_run) {
  const ResourceRef budgets = state.table.Find("policy", "v1", "poddisruptionbudgets");
  std::vector<Budget> found = BudgetsOf(state, *budgets, pod);
  if (found.empty()) return {};
  if (found.size() > 1) {
    return tl::unexpected(
        InternalError("This pod has more than one PodDisruptionBudget, which the eviction "
                      "subresource does not support."));
  }
  Budget& budget = found[0];
  const std::int64_t allowed = IntegerAt(budget.value, {"status", "disruptionsAllowed"});
  if (allowed <= 0) return tl::unexpected(OverBudget(budget.value));
  if (dry_run) return {};
  json& status = ObjectIn(budget.value, "status");
  status["disruptionsAllowed"] = allowed - 1;
  ObjectIn(status, "disruptedPods")[pod.name] = Stamp(call.now);
  WriteObject(state,
              budgets,
              budget.stored->version,
              std::move(budget.value),
              [](const ApiResult<ObjectRef>&) {});
  return {};
}

void SetDisrupted(const Call& call, json& pod) {
  json& conditions = ListIn(ObjectIn(pod, "status"), "conditions");
  json disrupted = {{"type", "DisruptionTarget"},
                    {"status", "True"},
                    {"reason", "EvictionByEvictionAPI"},
                    {"message", "Eviction API: evicting"},
                    {"lastTransitionTime", Stamp(call.now)}};
  for (json& condition : conditions) {
    if (TextAt(condition, {"type"}) != "DisruptionTarget") continue;
    condition = std::move(disrupted);
    return;
  }
  conditions.push_back(std::move(disrupted));
}

}  // namespace

void HandleEviction(ServerState& state, const CallRef& call) {
  const ApiResult<json> eviction = ReadOther(*call, "Eviction");
  if (!eviction) return AnswerError(*call, eviction.error());
  const std::string& name = TextAt(*eviction, {"metadata", "name"});
  if (!name.empty() && name != call->path.name) {
    return AnswerError(*call, BadRequest("name in URL does not match name in Eviction object"));
  }
  ApiResult<DeleteOptions> options =
      ReadDeleteOptions(call->query, ObjectAt(*eviction, {"deleteOptions"}));
  if (!options) return AnswerError(*call, options.error());
  if (call->query.Has("dryRun")) {
    const ApiResult<WriteOptions> write = ReadWriteOptions(call->query, "CreateOptions");
    if (!write) return AnswerError(*call, write.error());
    options->dry_run = options->dry_run || write->dry_run;
  }

  const ObjectKey key = KeyOf(*call->resource, call->path.ns, call->path.name);
  ObjectRef live = state.store.GetLatest(key);
  if (live == nullptr) return AnswerError(*call, NotFound(*call->resource, call->path.name));
  if (auto met = CheckDeletePreconditions(*call->resource, *live, *options); !met) {
    return AnswerError(*call, met.error());
  }
  options->resource_version.clear();  // the pod gets a new one before it is deleted
  json pod = ParseWithKind(*call->resource, *live);
  if (!PassesBudgets(pod)) {
    if (auto spent = Spend(state, *call, *live, options->dry_run); !spent) {
      return AnswerError(*call, spent.error());
    }
  }
  if (options->dry_run) return AnswerCreated(*call);
  SetDisrupted(*call, pod);
  WriteObject(
      state, call->resource, live->version, std::move(pod), [](const ApiResult<ObjectRef>&) {});
  live = state.store.GetLatest(key);
  if (live == nullptr) return AnswerError(*call, NotFound(*call->resource, call->path.name));
  DeleteObject(state, call->resource, live, *options, [call](const ApiResult<Deleted>& deleted) {
    if (!deleted) return AnswerError(*call, deleted.error());
    AnswerCreated(*call);
  });
}

}  // namespace strata::apiserver
