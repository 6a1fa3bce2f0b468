// Rules of custom kinds: whatever the text, parsing and evaluating it end within their limits, and
// the same text over the same object has the same result and the same cost.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "cel/expression.h"

// The first line is the object, the rest the rule.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using strata::cel::Budget;
  using strata::cel::Expression;
  const std::string_view input(reinterpret_cast<const char*>(data),
                               size);  // NOLINT(*-reinterpret-cast)
  const std::size_t end = input.find('\n');
  if (end == std::string_view::npos || end > 4096) return 0;
  const nlohmann::json self = nlohmann::json::parse(input.substr(0, end), nullptr, false);
  if (self.is_discarded()) return 0;
  const auto expression = Expression::Parse(input.substr(end + 1));
  if (!expression) {
    CHECK(!expression.error().message.empty());
    return 0;
  }
  Budget budget;
  budget.left = 20'000;  // enough for every path, and quick
  Budget again = budget;
  const auto first = expression->Evaluate(self, &self, budget);
  const auto second = expression->Evaluate(self, &self, again);
  CHECK(budget.left >= 0 && budget.left == again.left);
  CHECK(first.has_value() == second.has_value());
  if (first) {
    CHECK(*first == *second);
  } else {
    CHECK(first.error().message == second.error().message);
  }
  return 0;
}
