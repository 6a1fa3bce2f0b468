#include "objects/policy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {
namespace {

// The highest priority that users may give; system classes go above.
constexpr std::int32_t kHighestUserPriority = 1'000'000'000;

// 3, or "25%".
void ReadAmount(const Cursor& at, std::optional<PodDisruptionBudget::Amount>& out) {
  if (!at.present() || !at.ok()) return;
  if (at.value().type() != Value::Type::kString) {
    std::int32_t count = 0;
    at.Read(count, kCount32);
    out = count;
    return;
  }
  const std::string_view text = at.value().AsString();
  std::int32_t percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool one_sign = end + 1 == text.data() + text.size() && *end == '%';
  if (error != std::errc() || !one_sign || percent < 0 || percent > 100) {
    return at.Fail(fmt::format("found {}, want an integer or a percentage such as \"50%\"",
                               at.value().Describe()));
  }
  out = PodDisruptionBudget::Percent{percent};
}

constexpr std::array<std::pair<std::string_view, SelectorOp>, 4> kScopeOps = {
    {{"In", SelectorOp::kIn},
     {"NotIn", SelectorOp::kNotIn},
     {"Exists", SelectorOp::kExists},
     {"DoesNotExist", SelectorOp::kDoesNotExist}}};

}  // namespace

void ReadObject(const Cursor& object, Namespace& out) {
  const Cursor meta = object.At("metadata");
  CheckDnsLabel(meta.At("name"), out.meta.name);
}

void ReadObject(const Cursor& object, ConfigMap& out) {
  object.At("data").ReadStrings(out.data);
}

void ReadPreemptionPolicy(const Cursor& at, PreemptionPolicy& out) {
  constexpr std::array<std::pair<std::string_view, PreemptionPolicy>, 2> kPolicies = {
      {{"PreemptLowerPriority", PreemptionPolicy::kPreemptLowerPriority},
       {"Never", PreemptionPolicy::kNever}}};
  at.ReadEnum(out, kPolicies);
}

void ReadObject(const Cursor& object, PriorityClass& out) {
  const Cursor value = object.At("value");
  value.Required().Read(out.value);
  if (out.value > kHighestUserPriority && !out.meta.name.starts_with("system-")) {
    value.Fail(fmt::format("found number {}, want at most {}", out.value, kHighestUserPriority));
  }
  object.At("globalDefault").Read(out.global_default);
  ReadPreemptionPolicy(object.At("preemptionPolicy"), out.preemption_policy);
}

void ReadObject(const Cursor& object, ResourceQuota& out) {
  const Cursor spec = object.At("spec");
  ReadResources(spec.At("hard"), out.hard);
  spec.At("scopes").ReadList(
      out.scopes,
      [](const Cursor& item, ResourceQuota::ScopeRequirement& scope) { item.Read(scope.scope); });
  const Cursor selector = spec.At("scopeSelector");
  selector.At("matchExpressions")
      .ReadList(out.scopes, [](const Cursor& item, ResourceQuota::ScopeRequirement& scope) {
        item.At("scopeName").Required().Read(scope.scope);
        item.At("operator").Required().ReadEnum(scope.op, kScopeOps);
        item.At("values").Read(scope.values);
        std::sort(scope.values.begin(), scope.values.end());
      });
  const Cursor status = object.At("status");
  ReadResources(status.At("used"), out.used);
}

void ReadObject(const Cursor& object, PodDisruptionBudget& out) {
  const Cursor spec = object.At("spec");
  const Cursor selector = spec.At("selector");
  if (selector.present()) ReadLabelSelector(selector, out.selector.emplace());
  ReadAmount(spec.At("minAvailable"), out.min_available);
  ReadAmount(spec.At("maxUnavailable"), out.max_unavailable);
  if (out.min_available && out.max_unavailable) {
    spec.Fail("minAvailable and maxUnavailable are both set (want one of them)");
  }
  const Cursor status = object.At("status");
  status.At("disruptionsAllowed").Read(out.disruptions_allowed, kCount32);
  status.At("expectedPods").Read(out.expected_pods, kCount32);
  status.At("disruptedPods").ForEachMember([&](std::string_view name, const Cursor& /*time*/) {
    out.disrupted_pods.emplace_back(name);
  });
  std::sort(out.disrupted_pods.begin(), out.disrupted_pods.end());
}

}  // namespace strata::objects
