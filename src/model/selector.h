#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/labels.h"
#include "model/node_labels.h"

namespace strata {

enum class SelectorOp : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

// One test of one label, with Kubernetes' meaning: NotIn and DoesNotExist hold when the label is
// absent; Gt and Lt compare integers and hold only when both sides are integers.
struct Requirement {
  std::string key;
  SelectorOp op = SelectorOp::kIn;
  std::vector<std::string> values;  // sorted; for Gt and Lt exactly one

  auto operator<=>(const Requirement&) const = default;
  [[nodiscard]] bool Matches(const Labels& labels) const;
  [[nodiscard]] bool Matches(const NodeLabels& labels) const;
  // The same test on one value that is known to be present (a field such as metadata.name).
  [[nodiscard]] bool MatchesValue(std::string_view value) const;
};

// All requirements hold. Without requirements it matches everything; where Kubernetes says that an
// empty selector matches nothing (HyperNode members), the caller asks empty().
struct LabelSelector {
  std::vector<Requirement> requirements;

  auto operator<=>(const LabelSelector&) const = default;
  [[nodiscard]] bool empty() const { return requirements.empty(); }
  [[nodiscard]] bool Matches(const Labels& labels) const;
  [[nodiscard]] bool Matches(const NodeLabels& labels) const;
};

// The text kubectl would print: "app in (a,b),!gone,tier=1"; "<none>" for an empty selector.
[[nodiscard]] std::string ToString(const Requirement& requirement);
[[nodiscard]] std::string ToString(const LabelSelector& selector);

}  // namespace strata
