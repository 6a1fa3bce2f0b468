#include "schema/rules.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "schema/catalog.h"

namespace strata::schema {
namespace {

int Selectors(const nlohmann::json& self) {
  return int{self.contains("exactMatch")} + int{self.contains("regexMatch")} +
         int{self.contains("labelMatch")};
}

bool HasSelector(const nlohmann::json& self) {
  return Selectors(self) > 0;
}

bool HasOneSelectorAtMost(const nlohmann::json& self) {
  return Selectors(self) <= 1;
}

bool NamesOneTierAtMost(const nlohmann::json& self) {
  const auto name = self.find("highestTierName");
  return !self.contains("highestTierAllowed") || name == self.end() || *name == "";
}

constexpr std::array<std::pair<std::string_view, RuleCheck>, 3> kRules = {
    {{"has(self.exactMatch) || has(self.regexMatch) || has(self.labelMatch)", HasSelector},
     {"(has(self.exactMatch) ? 1 : 0) + (has(self.regexMatch) ? 1 : 0) + "
      "(has(self.labelMatch) ? 1 : 0) <= 1",
      HasOneSelectorAtMost},
     {"!has(self.highestTierAllowed) || !has(self.highestTierName) || self.highestTierName == ''",
      NamesOneTierAtMost}}};

void Collect(const Schema& schema, std::set<std::string>& unknown) {
  for (const Rule& rule : schema.rules) {
    if (FindRule(rule.rule) == nullptr) unknown.insert(rule.rule);
  }
  if (schema.items != nullptr) Collect(*schema.items, unknown);
  for (const Field& field : schema.fields) Collect(*field.schema, unknown);
}

}  // namespace

RuleCheck FindRule(std::string_view rule) {
  const auto* found = std::find_if(
      kRules.begin(), kRules.end(), [&](const auto& known) { return known.first == rule; });
  return found == kRules.end() ? nullptr : found->second;
}

std::vector<std::string> RulesNotChecked(const Schema& schema) {
  std::set<std::string> unknown;
  Collect(schema, unknown);
  return {unknown.begin(), unknown.end()};
}

}  // namespace strata::schema
