#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/request/api_error.h"

namespace strata::apiserver {

// The parameters of a request line, in their order.
class Query {
 public:
  Query() = default;
  // None when an escape is broken.
  [[nodiscard]] static std::optional<Query> Parse(std::string_view text);

  // The first value, "" when there is none.
  [[nodiscard]] std::string_view Get(std::string_view name) const;
  [[nodiscard]] bool Has(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> All(std::string_view name) const;
  // As the API server reads them: anything but "false" and "0" is true.
  [[nodiscard]] bool Flag(std::string_view name) const;
  // A whole number of 64 bits; none when it is absent, 400 when it is something else.
  [[nodiscard]] ApiResult<std::optional<std::int64_t>> Number(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace strata::apiserver
