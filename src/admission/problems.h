#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schema/check.h"

namespace strata::admission {

// What is wrong with an object, gathered in the words of schema/problems.h. Only as much as a
// Status reports: a list of a million bad entries costs no more than one of a thousand.
class Problems {
 public:
  void Required(std::string field, std::string_view detail = {});
  void Invalid(std::string field, const nlohmann::json& value, std::string_view detail);
  void NotSupported(std::string field,
                    std::string_view value,
                    std::initializer_list<std::string_view> supported);
  void Duplicate(std::string field, const nlohmann::json& value);
  void NotFound(std::string field, const nlohmann::json& value);
  void Forbidden(std::string field, std::string_view detail);
  void TooLong(std::string field, std::int64_t max);
  void Immutable(std::string field, const nlohmann::json& value);

  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] std::vector<schema::Problem> Take() { return std::move(all_); }

 private:
  // Whether one more is of interest.
  [[nodiscard]] bool Wanted() const { return all_.size() < kMax; }
  static constexpr std::size_t kMax = 1000;

  std::vector<schema::Problem> all_;
};

}  // namespace strata::admission
