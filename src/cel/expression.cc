#include "cel/expression.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "cel/evaluate.h"
#include "cel/syntax.h"

namespace strata::cel {

Result<Expression> Expression::Parse(std::string_view text) {
  TRY_ASSIGN(Parsed parsed, ParseExpression(text));
  return Expression(std::make_shared<const Node>(std::move(parsed.root)), parsed.uses_old_self);
}

Result<bool> Expression::Evaluate(const nlohmann::json& self,
                                  const nlohmann::json* old_self,
                                  Budget& budget) const {
  std::int64_t cost = 0;
  Result<bool> result =
      EvaluateBool(*root_, {&self, old_self}, std::min(kMaxRuleCost, budget.left), cost);
  budget.left = std::max<std::int64_t>(0, budget.left - cost);
  return result;
}

}  // namespace strata::cel
