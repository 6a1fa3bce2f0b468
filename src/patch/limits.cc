#include "patch/limits.h"

#include <string>

#include <nlohmann/json.hpp>

namespace strata::patch {
namespace {

bool IsWithin(const nlohmann::json& value, std::size_t levels) {
  if (!value.is_structured()) return true;
  if (levels == 0) return false;
  for (const nlohmann::json& child : value) {
    if (!IsWithin(child, levels - 1)) return false;
  }
  return true;
}

}  // namespace

Status CheckDepth(const nlohmann::json& value) {
  if (IsWithin(value, kMaxDepth)) return {};
  return Fail(Code::kInvalidArgument,
              "nested deeper than " + std::to_string(kMaxDepth) + " levels");
}

std::size_t TextSize(const nlohmann::json& value) {
  constexpr std::size_t kScalar = 8;
  if (value.is_string()) return value.get_ref<const std::string&>().size() + 2;
  if (!value.is_structured()) return kScalar;
  std::size_t size = 2;
  if (value.is_array()) {
    for (const nlohmann::json& item : value) size += TextSize(item) + 1;
    return size;
  }
  for (const auto& [key, child] : value.items()) size += key.size() + 4 + TextSize(child);
  return size;
}

}  // namespace strata::patch
