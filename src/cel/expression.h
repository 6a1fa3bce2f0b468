#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

// A subset of the Common Expression Language (CEL), as validation rules of custom kinds
// (x-kubernetes-validations) use it:
//
// * `self`, `oldSelf`; fields (`self.a`, also escaped: `self.a__dash__b`), indexes, `has(self.a)`;
// * null, bools, integers, doubles, strings, lists and maps as literals;
// * `! - * / % + < <= > >= == != in && || ?:` with the precedence of CEL;
// * `size`, `contains`, `startsWith`, `endsWith`, `matches` with a literal pattern;
// * the macros `all`, `exists` and `exists_one` over lists and over the keys of maps.
//
// Everything else is refused by name when the expression is parsed. Types are checked during the
// evaluation: there is no type checker.
namespace strata::cel {

// Limits of a real API server: the cost of one rule, and of all rules of one request. An operation
// costs 1, and one more for every ten bytes, or for every item, that it has to look at.
inline constexpr std::int64_t kMaxRuleCost = 1'000'000;
inline constexpr std::int64_t kMaxTotalCost = 10'000'000;

// What the rules of one request may still cost.
struct Budget {
  std::int64_t left = kMaxTotalCost;
};

struct Node;

// A parsed expression. Immutable; safe to evaluate from many threads.
class Expression {
 public:
  // kInvalidArgument says what is wrong or not supported, and where: `function "url" is not
  // supported (known: all, ...) at character 1`. Also for what can never be a bool, is longer than
  // 16 KiB or nested deeper than 200 levels.
  [[nodiscard]] static Result<Expression> Parse(std::string_view text);

  // Whether the rule compares with the previous state: it holds of updates only.
  [[nodiscard]] bool uses_old_self() const { return uses_old_self_; }

  // Whether the rule holds. kInvalidArgument when that cannot be said, in the words of CEL: "no
  // such key: a", "index out of bounds: 3", "no such overload", "division by zero", ...;
  // kUnavailable when it costs more than a rule may, or than is left of `budget`. REQUIRES:
  // `old_self` is not null if uses_old_self().
  [[nodiscard]] Result<bool> Evaluate(const nlohmann::json& self,
                                      const nlohmann::json* old_self,
                                      Budget& budget) const;

 private:
  Expression(std::shared_ptr<const Node> root, bool uses_old_self)
      : root_(std::move(root)), uses_old_self_(uses_old_self) {}

  std::shared_ptr<const Node> root_;
  bool uses_old_self_ = false;
};

}  // namespace strata::cel
