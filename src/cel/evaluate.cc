#include "cel/evaluate.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace strata::cel {
namespace {

using nlohmann::json;

// A part of an object that is looked at, or a value of one's own.
class Value {
 public:
  explicit Value(const json* borrowed) : value_(borrowed) {}
  explicit Value(json own) : value_(std::move(own)) {}

  [[nodiscard]] const json& get() const {
    const auto* const* borrowed = std::get_if<const json*>(&value_);
    return borrowed != nullptr ? **borrowed : std::get<json>(value_);
  }
  // `part`, which is in this value.
  [[nodiscard]] Value Part(const json& part) const {
    return std::holds_alternative<json>(value_) ? Value(json(part)) : Value(&part);
  }

 private:
  std::variant<const json*, json> value_;
};

tl::unexpected<Error> NoOverload() {
  return Fail(Code::kInvalidArgument, "no such overload");
}

tl::unexpected<Error> NoSuchKey(std::string_view key) {
  return Fail(Code::kInvalidArgument, fmt::format("no such key: {}", CutUtf8(key, 256)));
}

// None for a number that is not an integer of 64 bits with a sign.
std::optional<std::int64_t> IntegerOf(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (!value.is_number_integer()) return std::nullopt;
  return value.get<std::int64_t>();
}

// Exact for integers of 64 bits.
long double NumberOf(const json& value) {
  if (value.is_number_unsigned()) return static_cast<long double>(value.get<std::uint64_t>());
  if (value.is_number_integer()) return static_cast<long double>(value.get<std::int64_t>());
  return value.get<double>();
}

// How much there is to look at, in units of the cost.
std::int64_t Weight(const json& value) {
  if (value.is_string()) {
    return static_cast<std::int64_t>(value.get_ref<const std::string&>().size() / 10);
  }
  if (!value.is_structured()) return 0;
  std::int64_t sum = 0;
  for (const json& item : value) sum += 1 + Weight(item);
  return sum;
}

std::optional<int> Compare(const json& left, const json& right) {
  const auto order = [](const auto& a, const auto& b) { return a < b ? -1 : (b < a ? 1 : 0); };
  if (left.is_number() && right.is_number()) return order(NumberOf(left), NumberOf(right));
  if (left.is_string() && right.is_string()) {
    return order(left.get_ref<const std::string&>(), right.get_ref<const std::string&>());
  }
  if (left.is_boolean() && right.is_boolean()) return order(left.get<bool>(), right.get<bool>());
  return std::nullopt;
}

Result<Value> IntegerResult(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  bool overflow = false;
  if (op == Op::kAdd) {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (op == Op::kSubtract) {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (op == Op::kMultiply) {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else if (b == 0) {
    return Fail(Code::kInvalidArgument, op == Op::kDivide ? "division by zero" : "modulus by zero");
  } else if (b == -1) {  // the one quotient that may not fit
    overflow = op == Op::kDivide && __builtin_sub_overflow(std::int64_t{0}, a, &result);
  } else {
    result = op == Op::kDivide ? a / b : a % b;
  }
  if (overflow) return Fail(Code::kInvalidArgument, "integer overflow");
  return Value(json(result));
}

Result<Value> DoubleResult(Op op, double a, double b) {
  switch (op) {
    case Op::kAdd:
      return Value(json(a + b));
    case Op::kSubtract:
      return Value(json(a - b));
    case Op::kMultiply:
      return Value(json(a * b));
    case Op::kDivide:
      return Value(json(a / b));
    default:
      return NoOverload();
  }
}

class Evaluator {
 public:
  Evaluator(std::vector<const json*> slots, std::int64_t max_cost)
      : slots_(std::move(slots)), max_cost_(max_cost) {}

  [[nodiscard]] std::int64_t cost() const { return cost_; }

  Result<bool> Bool(const Node& node) {
    TRY_ASSIGN(const Value value, Any(node));
    if (!value.get().is_boolean()) return NoOverload();
    return value.get().get<bool>();
  }

 private:
  Status Charge(std::int64_t cost) {
    cost_ += cost;
    if (cost_ <= max_cost_) return {};
    return Fail(Code::kUnavailable, "cost limit exceeded");
  }

  static Result<Value> Yes(Result<bool> result) {
    if (!result) return tl::unexpected<Error>(std::move(result).error());
    return Value(json(*result));
  }

  Result<Value> Any(const Node& node) {
    TRY(Charge(1));
    switch (node.op) {
      case Op::kLiteral:
        return Value(&node.value);
      case Op::kVariable:
        return Value(slots_[node.slot]);
      case Op::kField:
      case Op::kHas:
        return Field(node);
      case Op::kIndex:
        return Index(node);
      case Op::kList:
        return List(node);
      case Op::kMap:
        return Map(node);
      case Op::kNot: {
        TRY_ASSIGN(const bool value, Bool(node.args[0]));
        return Value(json(!value));
      }
      case Op::kNegate:
        return Negate(node);
      case Op::kConditional: {
        TRY_ASSIGN(const bool condition, Bool(node.args[0]));
        return Any(node.args[condition ? 1 : 2]);
      }
      case Op::kOr:
      case Op::kAnd:
        return Yes(Logic(node));
      case Op::kAll:
      case Op::kExists:
      case Op::kExistsOne:
        return Yes(Macro(node));
      case Op::kSize:
        return Size(node);
      case Op::kMatches:
        return Yes(Matches(node));
      default:
        return TwoValues(node);
    }
  }

  Result<Value> Field(const Node& node) {
    TRY_ASSIGN(const Value object, Any(node.args[0]));
    if (!object.get().is_object()) return NoOverload();
    const auto member = object.get().find(node.name);
    // A null field counts as one that is not there.
    const bool there = member != object.get().end() && !member->is_null();
    if (node.op == Op::kHas) return Value(json(there));
    if (!there) return NoSuchKey(node.name);
    return object.Part(*member);
  }

  Result<Value> Index(const Node& node) {
    TRY_ASSIGN(const Value container, Any(node.args[0]));
    TRY_ASSIGN(const Value at, Any(node.args[1]));
    if (container.get().is_object() && at.get().is_string()) {
      const auto& key = at.get().get_ref<const std::string&>();
      const auto member = container.get().find(key);
      if (member == container.get().end()) return NoSuchKey(key);
      return container.Part(*member);
    }
    const std::optional<std::int64_t> index = IntegerOf(at.get());
    if (!container.get().is_array() || !index) return NoOverload();
    if (*index < 0 || *index >= static_cast<std::int64_t>(container.get().size())) {
      return Fail(Code::kInvalidArgument, fmt::format("index out of bounds: {}", *index));
    }
    return container.Part(container.get()[static_cast<std::size_t>(*index)]);
  }

  Result<Value> List(const Node& node) {
    json list = json::array();
    for (const Node& arg : node.args) {
      TRY_ASSIGN(const Value item, Any(arg));
      TRY(Charge(Weight(item.get())));
      list.push_back(item.get());
    }
    return Value(std::move(list));
  }

  Result<Value> Map(const Node& node) {
    json map = json::object();
    for (std::size_t i = 0; i < node.args.size(); i += 2) {
      TRY_ASSIGN(const Value key, Any(node.args[i]));
      TRY_ASSIGN(const Value value, Any(node.args[i + 1]));
      if (!key.get().is_string()) return NoOverload();
      TRY(Charge(Weight(value.get())));
      const bool added = map.emplace(key.get().get<std::string>(), value.get()).second;
      if (!added) return Fail(Code::kInvalidArgument, "duplicate key in a map");
    }
    return Value(std::move(map));
  }

  Result<Value> Negate(const Node& node) {
    TRY_ASSIGN(const Value value, Any(node.args[0]));
    if (const auto number = IntegerOf(value.get())) {
      return IntegerResult(Op::kSubtract, 0, *number);
    }
    if (!value.get().is_number_float()) return NoOverload();
    return Value(json(-value.get().get<double>()));
  }

  // A side that decides the result alone does so even if the other one is an error.
  Result<bool> Logic(const Node& node) {
    const bool decisive = node.op == Op::kOr;
    Result<bool> left = Bool(node.args[0]);
    if (left && *left == decisive) return decisive;
    if (!left && left.error().code != Code::kInvalidArgument) return left;
    Result<bool> right = Bool(node.args[1]);
    if (!right || *right == decisive) return right;
    return left;
  }

  Result<bool> Macro(const Node& node) {
    TRY_ASSIGN(const Value range, Any(node.args[0]));
    const json& items = range.get();
    if (!items.is_structured()) return NoOverload();
    std::int64_t matched = 0;
    std::optional<Error> unclear;
    for (auto at = items.begin(); at != items.end(); ++at) {
      const json key = items.is_object() ? json(at.key()) : json();
      Result<bool> holds = WithVariable(node, items.is_object() ? key : *at);
      if (!holds) {
        const bool fatal =
            node.op == Op::kExistsOne || holds.error().code != Code::kInvalidArgument;
        if (fatal) return holds;
        if (!unclear) unclear = std::move(holds).error();
        continue;
      }
      if (node.op == Op::kAll && !*holds) return false;
      if (node.op == Op::kExists && *holds) return true;
      matched += *holds ? 1 : 0;
    }
    if (unclear) return tl::unexpected<Error>(std::move(*unclear));
    if (node.op == Op::kExistsOne) return matched == 1;
    return node.op == Op::kAll;
  }

  Result<bool> WithVariable(const Node& node, const json& value) {
    slots_.push_back(&value);
    Result<bool> holds = Bool(node.args[1]);
    slots_.pop_back();
    return holds;
  }

  Result<Value> Size(const Node& node) {
    TRY_ASSIGN(const Value value, Any(node.args[0]));
    if (value.get().is_structured()) {
      return Value(json(static_cast<std::int64_t>(value.get().size())));
    }
    if (!value.get().is_string()) return NoOverload();
    TRY(Charge(Weight(value.get())));
    const auto& text = value.get().get_ref<const std::string&>();
    return Value(json(static_cast<std::int64_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return !IsUtf8Continuation(c); }))));
  }

  Result<bool> Matches(const Node& node) {
    TRY_ASSIGN(const Value value, Any(node.args[0]));
    if (!value.get().is_string()) return NoOverload();
    TRY(Charge(Weight(value.get())));
    return RE2::PartialMatch(value.get().get_ref<const std::string&>(), *node.pattern);
  }

  Result<Value> TwoValues(const Node& node) {
    TRY_ASSIGN(const Value left, Any(node.args[0]));
    TRY_ASSIGN(const Value right, Any(node.args[1]));
    const json& a = left.get();
    const json& b = right.get();
    switch (node.op) {
      case Op::kEqual:
      case Op::kNotEqual: {
        TRY(Charge(std::min(Weight(a), Weight(b))));
        return Value(json((a == b) == (node.op == Op::kEqual)));
      }
      case Op::kLess:
      case Op::kLessOrEqual:
      case Op::kGreater:
      case Op::kGreaterOrEqual:
        return Yes(Ordered(node.op, a, b));
      case Op::kIn:
        return Yes(In(a, b));
      case Op::kContains:
      case Op::kStartsWith:
      case Op::kEndsWith:
        return Yes(TextTest(node.op, a, b));
      default:
        return Arithmetic(node.op, a, b);
    }
  }

  Result<bool> Ordered(Op op, const json& a, const json& b) {
    const std::optional<int> order = Compare(a, b);
    if (!order) return NoOverload();
    TRY(Charge(std::min(Weight(a), Weight(b))));
    if (op == Op::kLess) return *order < 0;
    if (op == Op::kLessOrEqual) return *order <= 0;
    return op == Op::kGreater ? *order > 0 : *order >= 0;
  }

  Result<bool> In(const json& item, const json& container) {
    if (container.is_object() && item.is_string()) {
      return container.contains(item.get_ref<const std::string&>());
    }
    if (!container.is_array()) return NoOverload();
    for (const json& one : container) {
      TRY(Charge(1 + std::min(Weight(one), Weight(item))));
      if (one == item) return true;
    }
    return false;
  }

  Result<bool> TextTest(Op op, const json& a, const json& b) {
    if (!a.is_string() || !b.is_string()) return NoOverload();
    TRY(Charge(Weight(op == Op::kContains ? a : b)));
    const std::string_view text = a.get_ref<const std::string&>();
    const std::string_view part = b.get_ref<const std::string&>();
    if (op == Op::kStartsWith) return text.starts_with(part);
    if (op == Op::kEndsWith) return text.ends_with(part);
    return text.find(part) != std::string_view::npos;
  }

  Result<Value> Arithmetic(Op op, const json& a, const json& b) {
    const auto left = IntegerOf(a);
    const auto right = IntegerOf(b);
    if (left && right) return IntegerResult(op, *left, *right);
    if (a.is_number() && b.is_number()) return DoubleResult(op, a.get<double>(), b.get<double>());
    const bool joins =
        op == Op::kAdd && ((a.is_string() && b.is_string()) || (a.is_array() && b.is_array()));
    if (!joins) return NoOverload();
    TRY(Charge(Weight(a) + Weight(b)));
    if (a.is_string()) {
      return Value(json(a.get_ref<const std::string&>() + b.get_ref<const std::string&>()));
    }
    json all = a;
    all.insert(all.end(), b.begin(), b.end());
    return Value(std::move(all));
  }

  std::vector<const json*> slots_;
  std::int64_t max_cost_;
  std::int64_t cost_ = 0;
};

}  // namespace

Result<bool> EvaluateBool(const Node& root,
                          std::vector<const json*> slots,
                          std::int64_t max_cost,
                          std::int64_t& cost) {
  Evaluator evaluator(std::move(slots), max_cost);
  Result<bool> result = evaluator.Bool(root);
  cost += evaluator.cost();
  return result;
}

}  // namespace strata::cel
