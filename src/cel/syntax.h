#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace strata::cel {

enum class Op : std::uint8_t {
  kLiteral,      // value
  kVariable,     // slot
  kField,        // args[0].name
  kHas,          // has(args[0].name)
  kIndex,        // args[0][args[1]]
  kList,         // args
  kMap,          // args: key, value, key, value, ...
  kNot,          // args[0]
  kNegate,       // args[0]
  kConditional,  // args[0] ? args[1] : args[2]
  kOr,           // from here on two arguments
  kAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kIn,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kSize,  // args[0]
  kContains,
  kStartsWith,
  kEndsWith,
  kMatches,  // args[0] by pattern
  kAll,      // of args[0], with each item in `slot`: args[1]
  kExists,
  kExistsOne,
};

// One operation of an expression.
struct Node {
  Op op = Op::kLiteral;
  std::string name;
  nlohmann::json value;
  std::shared_ptr<const re2::RE2> pattern;
  std::size_t slot = 0;
  std::vector<Node> args;
  int depth = 1;  // of the tree below
};

// Where variables are while an expression is evaluated; those of macros follow, outer ones first.
inline constexpr std::size_t kSelfSlot = 0;
inline constexpr std::size_t kOldSelfSlot = 1;

// Evaluation recurses as deep as this.
inline constexpr int kMaxDepth = 200;

struct Parsed {
  Node root;
  bool uses_old_self = false;
};
// See Expression::Parse.
[[nodiscard]] Result<Parsed> ParseExpression(std::string_view text);

}  // namespace strata::cel
