#include "convert/role_affinity.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ascii.h"

namespace strata {
namespace {

constexpr std::string_view kTogetherKey = "volcano.sh/task-topology-affinity";
constexpr std::string_view kApartKey = "volcano.sh/task-topology-anti-affinity";
constexpr std::string_view kOrderKey = "volcano.sh/task-topology-task-order";

Result<std::vector<std::string>> ReadNames(std::string_view key, std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view item : Split(text, ',')) {
    const std::string_view part = Trim(item);
    if (part.empty()) continue;
    if (std::find(names.begin(), names.end(), part) != names.end()) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format(
              "metadata.annotations.{}: task \"{}\" is a duplicate in one group", key, part));
    }
    names.emplace_back(part);
  }
  return names;
}

Result<std::vector<std::vector<std::string>>> ReadGroups(const objects::Metadata& meta,
                                                         std::string_view key) {
  std::vector<std::vector<std::string>> groups;
  const std::string* text = objects::Find(meta.annotations, key);
  if (text == nullptr) return groups;
  for (const std::string_view part : Split(*text, ';')) {
    TRY_ASSIGN(std::vector<std::string> names, ReadNames(key, part));
    if (!names.empty()) groups.push_back(std::move(names));
  }
  return groups;
}

}  // namespace

Result<RoleAffinity> ToRoleAffinity(const objects::Metadata& meta) {
  RoleAffinity affinity;
  TRY_ASSIGN(affinity.together, ReadGroups(meta, kTogetherKey));
  TRY_ASSIGN(affinity.apart, ReadGroups(meta, kApartKey));
  if (const std::string* text = objects::Find(meta.annotations, kOrderKey)) {
    TRY_ASSIGN(affinity.order, ReadNames(kOrderKey, *text));
  }
  return affinity;
}

}  // namespace strata
