#include "discovery/render.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/dump.h"
#include "objects/write_hypernode.h"
#include "objects/yaml_writer.h"

namespace strata::discovery {
namespace {

using Json = nlohmann::ordered_json;

struct MemberText {
  std::string operator()(std::monostate /*none*/) const { return "?"; }
  std::string operator()(const HyperNodeMember::Exact& exact) const { return exact.name; }
  std::string operator()(const NamePattern& pattern) const { return "/" + pattern.text() + "/"; }
  std::string operator()(const LabelSelector& selector) const { return ToString(selector); }
};

std::set<std::string> MembersOf(const objects::HyperNode& hypernode) {
  std::set<std::string> members;
  for (const HyperNodeMember& member : hypernode.spec.members) {
    members.insert(std::visit(MemberText{}, member.selector));
  }
  return members;
}

std::string Summary(const objects::HyperNode& hypernode) {
  return fmt::format("{} (tier {}{}{}): {}",
                     hypernode.meta.name,
                     hypernode.spec.tier,
                     hypernode.spec.tier_name.empty() ? "" : ", ",
                     hypernode.spec.tier_name,
                     fmt::join(MembersOf(hypernode), " "));
}

// "" when nothing is different.
std::string Changes(const objects::HyperNode& before, const objects::HyperNode& now) {
  std::string text;
  if (before.spec.tier != now.spec.tier) {
    text += fmt::format(" tier {} -> {}", before.spec.tier, now.spec.tier);
  }
  if (before.spec.tier_name != now.spec.tier_name) {
    text += fmt::format(" tierName {} -> {}",
                        before.spec.tier_name.empty() ? "none" : before.spec.tier_name,
                        now.spec.tier_name.empty() ? "none" : now.spec.tier_name);
  }
  const std::set<std::string> old_members = MembersOf(before);
  const std::set<std::string> new_members = MembersOf(now);
  for (const std::string& member : new_members) {
    if (!old_members.contains(member)) text += " +" + member;
  }
  for (const std::string& member : old_members) {
    if (!new_members.contains(member)) text += " -" + member;
  }
  for (const auto& [key, value] : now.meta.labels) {
    const std::string* old_value = objects::Find(before.meta.labels, key);
    if (old_value == nullptr || *old_value != value) text += fmt::format(" {}={}", key, value);
  }
  return text;
}

}  // namespace

std::string RenderYaml(const std::vector<objects::HyperNode>& hypernodes) {
  std::string text;
  for (const objects::HyperNode& hypernode : hypernodes) {
    if (!text.empty()) text += "---\n";
    text += objects::WriteYaml(objects::WriteHyperNode(hypernode));
  }
  return text;
}

std::string RenderJson(const std::vector<objects::HyperNode>& hypernodes) {
  Json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", Json::array()}};
  for (const objects::HyperNode& hypernode : hypernodes) {
    list["items"].push_back(objects::WriteHyperNode(hypernode));
  }
  return DumpPrettyJson(list) + "\n";
}

std::string RenderDiff(const std::vector<objects::HyperNode>& before,
                       const std::vector<objects::HyperNode>& now,
                       const std::vector<Owner>& owners) {
  std::map<std::string, std::pair<const objects::HyperNode*, const objects::HyperNode*>> pairs;
  for (const objects::HyperNode& hypernode : before) {
    const bool ours = std::find(owners.begin(), owners.end(), OwnerOf(hypernode)) != owners.end();
    if (ours) pairs[hypernode.meta.name].first = &hypernode;
  }
  for (const objects::HyperNode& hypernode : now) pairs[hypernode.meta.name].second = &hypernode;
  std::string text;
  for (const auto& [name, pair] : pairs) {
    const auto& [old_one, new_one] = pair;
    if (old_one == nullptr) {
      text += "+ " + Summary(*new_one) + "\n";
    } else if (new_one == nullptr) {
      text += "- " + Summary(*old_one) + "\n";
    } else if (const std::string changes = Changes(*old_one, *new_one); !changes.empty()) {
      text += fmt::format("~ {}:{}\n", name, changes);
    }
  }
  return text.empty() ? "no changes\n" : text;
}

}  // namespace strata::discovery
