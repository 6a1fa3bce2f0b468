#include "kube/dump.h"

#include <nlohmann/json.hpp>

namespace strata::kube {
namespace {

template <typename Json>
std::string InOneLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string Dump(const nlohmann::json& json) {
  return InOneLine(json);
}

std::string Dump(const nlohmann::ordered_json& json) {
  return InOneLine(json);
}

}  // namespace strata::kube
