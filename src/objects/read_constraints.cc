#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {
namespace {

constexpr std::array<std::pair<std::string_view, TaintEffect>, 3> kEffects = {
    {{"NoSchedule", TaintEffect::kNoSchedule},
     {"PreferNoSchedule", TaintEffect::kPreferNoSchedule},
     {"NoExecute", TaintEffect::kNoExecute}}};

constexpr std::array<std::pair<std::string_view, Toleration::Op>, 2> kTolerationOps = {
    {{"Equal", Toleration::Op::kEqual}, {"Exists", Toleration::Op::kExists}}};

bool IsEmptyString(const Cursor& at) {
  return at.present() && at.value().type() == Value::Type::kString && at.value().AsString().empty();
}

void ReadAffinityTerm(const Cursor& at, PodAffinityTerm& out) {
  const Cursor selector = at.At("labelSelector");
  if (selector.present()) ReadLabelSelector(selector, out.selector.emplace());
  const Cursor namespace_selector = at.At("namespaceSelector");
  if (namespace_selector.present()) {
    ReadLabelSelector(namespace_selector, out.namespace_selector.emplace());
  }
  at.At("namespaces").ForEach([&](const Cursor& item) {
    item.Read(out.namespaces.emplace_back());
    CheckDnsLabel(item, out.namespaces.back());
  });
  std::sort(out.namespaces.begin(), out.namespaces.end());
  at.At("topologyKey").Required().Read(out.topology_key);
  CheckLabelKey(at.At("topologyKey"), out.topology_key);
  at.At("matchLabelKeys").Read(out.match_label_keys);
  at.At("mismatchLabelKeys").Read(out.mismatch_label_keys);
  const bool keys = !out.match_label_keys.empty() || !out.mismatch_label_keys.empty();
  if (keys && !out.selector) {
    at.At("labelSelector").Refuse("is required by matchLabelKeys and mismatchLabelKeys");
  }
}

}  // namespace

void ReadTaint(const Cursor& at, Taint& out) {
  at.At("key").Required().Read(out.key);
  CheckLabelKey(at.At("key"), out.key);
  at.At("value").Read(out.value);
  at.At("effect").Required().ReadEnum(out.effect, kEffects);
}

void ReadToleration(const Cursor& at, Toleration& out) {
  at.At("key").Read(out.key);
  if (!out.key.empty()) CheckLabelKey(at.At("key"), out.key);
  const Cursor op = at.At("operator");
  if (!IsEmptyString(op)) op.ReadEnum(out.op, kTolerationOps);
  at.At("value").Read(out.value);
  const Cursor effect = at.At("effect");
  if (effect.present() && !IsEmptyString(effect)) effect.ReadEnum(out.effect.emplace(), kEffects);
  std::int64_t seconds = 0;
  const Cursor toleration_seconds = at.At("tolerationSeconds");
  toleration_seconds.Read(seconds, {INT64_MIN, INT64_MAX});
  if (out.key.empty() && out.op != Toleration::Op::kExists) {
    op.Refuse("a toleration without key wants operator Exists");
  }
  if (out.op == Toleration::Op::kExists && !out.value.empty()) {
    at.At("value").Refuse("operator Exists wants no value");
  }
  if (toleration_seconds.present() && out.effect != TaintEffect::kNoExecute) {
    effect.Refuse("tolerationSeconds wants effect NoExecute");
  }
}

void ReadPodAffinity(const Cursor& at, PodAffinity& out) {
  at.At("requiredDuringSchedulingIgnoredDuringExecution").ReadRules(out.required, ReadAffinityTerm);
  at.At("preferredDuringSchedulingIgnoredDuringExecution")
      .ReadRules(out.preferred, [](const Cursor& item, WeightedPodAffinityTerm& weighted) {
        item.At("weight").Required().Read(weighted.weight, {1, 100});
        ReadAffinityTerm(item.At("podAffinityTerm").Required(), weighted.term);
      });
}

void ReadSpreadConstraint(const Cursor& at, TopologySpreadConstraint& out) {
  using Unsatisfiable = TopologySpreadConstraint::Unsatisfiable;
  using NodePolicy = TopologySpreadConstraint::NodePolicy;
  constexpr std::array<std::pair<std::string_view, Unsatisfiable>, 2> kWhen = {
      {{"DoNotSchedule", Unsatisfiable::kDoNotSchedule},
       {"ScheduleAnyway", Unsatisfiable::kScheduleAnyway}}};
  constexpr std::array<std::pair<std::string_view, NodePolicy>, 2> kPolicies = {
      {{"Honor", NodePolicy::kHonor}, {"Ignore", NodePolicy::kIgnore}}};
  at.At("maxSkew").Required().Read(out.max_skew, {1, INT32_MAX});
  at.At("topologyKey").Required().Read(out.topology_key);
  CheckLabelKey(at.At("topologyKey"), out.topology_key);
  at.At("whenUnsatisfiable").Required().ReadEnum(out.when_unsatisfiable, kWhen);
  const Cursor selector = at.At("labelSelector");
  if (selector.present()) ReadLabelSelector(selector, out.selector.emplace());
  at.At("minDomains").Read(out.min_domains, {1, INT32_MAX});
  if (out.min_domains && out.when_unsatisfiable != Unsatisfiable::kDoNotSchedule) {
    at.At("minDomains").Refuse("wants whenUnsatisfiable DoNotSchedule");
  }
  at.At("nodeAffinityPolicy").ReadEnum(out.node_affinity_policy, kPolicies);
  at.At("nodeTaintsPolicy").ReadEnum(out.node_taints_policy, kPolicies);
  at.At("matchLabelKeys").Read(out.match_label_keys);
  if (!out.match_label_keys.empty() && !out.selector) {
    at.At("labelSelector").Refuse("is required by matchLabelKeys");
  }
}

}  // namespace strata::objects
