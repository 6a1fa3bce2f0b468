#include "objects/duplicate_key.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::objects {
namespace {

constexpr std::size_t kFew = 16;

std::optional<std::string_view> Twice(const std::vector<Value::Member>& members) {
  if (members.size() <= kFew) {
    for (std::size_t i = 1; i < members.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (members[i].key == members[j].key) return members[i].key;
      }
    }
    return std::nullopt;
  }
  std::vector<std::string_view> keys;
  keys.reserve(members.size());
  for (const Value::Member& member : members) keys.push_back(member.key);
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  return twice == keys.end() ? std::nullopt : std::optional(*twice);
}

// The path is built on the way back from a find, innermost step first.
std::optional<std::string> FirstIn(const Value& value) {  // NOLINT(misc-no-recursion)
  const auto prepend = [](const std::string& step, const std::string& rest) {
    return rest.empty() || rest.front() == '[' ? step + rest : step + "." + rest;
  };
  if (value.type() == Value::Type::kArray) {
    std::size_t index = 0;
    for (const Value& item : value.Items()) {
      if (const auto found = FirstIn(item)) {
        return prepend("[" + std::to_string(index) + "]", *found);
      }
      ++index;
    }
    return std::nullopt;
  }
  if (value.type() != Value::Type::kObject) return std::nullopt;
  const std::vector<Value::Member> members = value.Members();
  if (const auto twice = Twice(members)) return std::string(*twice);
  for (const Value::Member& member : members) {
    if (member.key == "managedFields") continue;
    if (const auto found = FirstIn(member.value)) return prepend(std::string(member.key), *found);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FindDuplicateKey(const Value& root) {
  return FirstIn(root);
}

}  // namespace strata::objects
