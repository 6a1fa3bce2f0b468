#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schema/check.h"

// Problems in the words of a Kubernetes API server.
namespace strata::schema {

// As Go's %q: "a\"b\n".
[[nodiscard]] std::string GoQuote(std::string_view text);

// A value as messages show it: strings quoted, scalars plain, the rest as JSON. Cut where it is
// longer than anybody reads.
[[nodiscard]] std::string ShowValue(const nlohmann::json& value);

[[nodiscard]] Problem RequiredValue(std::string field, std::string_view detail = "");
[[nodiscard]] Problem InvalidValue(std::string field,
                                   const nlohmann::json& value,
                                   std::string_view detail);
// Without the value: for objects and lists, which are too long to show.
[[nodiscard]] Problem InvalidValueOmitted(std::string field, std::string_view detail);
[[nodiscard]] Problem TypeInvalid(std::string field,
                                  std::string_view found,
                                  std::string_view detail);
[[nodiscard]] Problem UnsupportedValue(std::string field,
                                       const nlohmann::json& value,
                                       const std::vector<nlohmann::json>& supported);
[[nodiscard]] Problem DuplicateValue(std::string field, const nlohmann::json& value);
[[nodiscard]] Problem TooLong(std::string field, std::int64_t max);
[[nodiscard]] Problem TooMany(std::string field, std::int64_t found, std::int64_t max);
[[nodiscard]] Problem ForbiddenField(std::string field, std::string_view detail);

// Problems as they are found: the first hundred, and how many more there were. What a client sends
// can have one in every third byte.
class ProblemList {
 public:
  // Calls `make` for a Problem when there is room for it.
  template <typename Make>
  void AddBy(const Make& make) {
    if (all_.size() < kMax) {
      all_.push_back(make());
    } else {
      ++more_;
    }
  }
  void Add(Problem problem) {
    AddBy([&] { return std::move(problem); });
  }

  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] bool full() const { return all_.size() == kMax; }
  [[nodiscard]] const std::vector<Problem>& first() const { return all_; }
  // With "and 17 more problems" at the end when there are.
  [[nodiscard]] std::vector<Problem> Take() &&;

 private:
  static constexpr std::size_t kMax = 100;
  std::vector<Problem> all_;
  std::size_t more_ = 0;
};

}  // namespace strata::schema
