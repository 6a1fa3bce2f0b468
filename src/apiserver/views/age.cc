#include "apiserver/views/age.h"

#include <nlohmann/json.hpp>

#include "base/timestamp.h"

namespace strata::apiserver {

std::string AgeOf(const nlohmann::json* value, Time now) {
  if (value == nullptr || !value->is_string()) return "<unknown>";
  const auto time = ParseTimestamp(value->get_ref<const std::string&>());
  return time ? HumanDuration(now - *time) : "<unknown>";
}

}  // namespace strata::apiserver
