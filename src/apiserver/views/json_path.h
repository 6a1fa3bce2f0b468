#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace strata::apiserver {

// The JSONPath of additionalPrinterColumns: .a.b, ['a.b'], [0], [-1], [*], and filters such as
// [?(@.type=="Ready")] with ==, !=, <, <=, > and >= over a path and a literal, or a path alone.
class JsonPath {
 public:
  // With or without the braces and the leading '$' that JSONPath allows. kInvalidArgument with one
  // sentence.
  [[nodiscard]] static Result<JsonPath> Parse(std::string_view text);

  // What the path leads to, in document order; pointers into `object`.
  [[nodiscard]] std::vector<const nlohmann::json*> Find(const nlohmann::json& object) const;

 private:
  struct Filter {
    std::vector<std::string> path;  // below the element
    std::string op;                 // "" when it is enough that something is there
    std::string literal;            // JSON text
  };
  struct All {};
  using Step = std::variant<std::string, std::int64_t, All, Filter>;

  class Parser;
  static bool Passes(const Filter& filter, const nlohmann::json& element);
  static void Take(const Step& step,
                   const nlohmann::json& from,
                   std::vector<const nlohmann::json*>& out);

  std::vector<Step> steps_;
};

}  // namespace strata::apiserver
