#include "objects/meta.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace strata::objects {

std::string NamespacedName(const Metadata& meta) {
  return meta.ns.empty() ? meta.name : meta.ns + "/" + meta.name;
}

std::string ObjectName(const Metadata& meta) {
  return std::string(meta.kind) + " " + NamespacedName(meta);
}

std::string Location(const Metadata& meta) {
  const std::string& from = meta.origin.empty() ? meta.source : meta.origin;
  return from.empty() ? ObjectName(meta) : from + ": " + ObjectName(meta);
}

const std::string* Find(const Labels& labels, std::string_view key) {
  const auto found = labels.find(key);
  return found == labels.end() ? nullptr : &found->second;
}

const Condition* FindCondition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::find_if(
      conditions.begin(), conditions.end(), [&](const Condition& c) { return c.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

}  // namespace strata::objects
