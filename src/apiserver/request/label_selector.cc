#include "apiserver/request/label_selector.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apiserver/request/selectors.h"
#include "json/access.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

std::optional<Selector::Operator> ReadOperatorName(const std::string& name) {
  if (name == "In") return Selector::Operator::kIn;
  if (name == "NotIn") return Selector::Operator::kNotIn;
  if (name == "Exists") return Selector::Operator::kExists;
  if (name == "DoesNotExist") return Selector::Operator::kNotExists;
  return std::nullopt;
}

}  // namespace

bool SelectorObjectMatches(const json& selector, const Pairs& labels) {
  std::vector<Selector::Requirement> requirements;
  for (const auto& [key, value] : ObjectAt(selector, {"matchLabels"}).items()) {
    if (!value.is_string()) return false;
    requirements.push_back({key, Selector::Operator::kIn, {value.get<std::string>()}});
  }
  for (const json& expression : ListAt(selector, {"matchExpressions"})) {
    const std::optional<Selector::Operator> op = ReadOperatorName(TextAt(expression, {"operator"}));
    if (!op) return false;
    Selector::Requirement requirement{TextAt(expression, {"key"}), *op, {}};
    for (const json& value : ListAt(expression, {"values"})) {
      if (value.is_string()) requirement.values.push_back(value.get<std::string>());
    }
    std::sort(requirement.values.begin(), requirement.values.end());
    requirements.push_back(std::move(requirement));
  }
  return MatchesAll(requirements, labels);
}

}  // namespace strata::apiserver
