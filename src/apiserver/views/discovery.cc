#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "apiserver/views/views.h"
#include "base/ascii.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

// A subresource as discovery shows it.
struct Subresource {
  std::string name;  // "status"
  std::string group;
  std::string version;
  std::string kind;
  json verbs;
};

json Verbs(const Resource& row) {
  if (row.read_only) return {"create"};
  json verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  // A real server deletes namespaces one at a time.
  if (row.group.empty() && row.kind == "Namespace") verbs.erase(2);
  return verbs;
}

Subresource Describe(const Resource& row, const std::string& name) {
  if (name == "eviction") return {name, "policy", "v1", "Eviction", {"create"}};
  if (name == "binding") return {name, row.group, row.version, "Binding", {"create"}};
  if (name == "log") return {name, row.group, row.version, row.kind, {"get"}};
  if (name == "finalize") return {name, row.group, row.version, row.kind, {"update"}};
  if (name == "scale") return {name, "autoscaling", "v1", "Scale", {"get", "patch", "update"}};
  return {name, row.group, row.version, row.kind, {"get", "patch", "update"}};
}

std::vector<Subresource> SubresourcesOf(const Resource& row) {
  std::vector<std::string> names = row.subresources;
  if (row.has_status) names.emplace_back("status");
  std::sort(names.begin(), names.end());
  std::vector<Subresource> all;
  all.reserve(names.size());
  for (const std::string& name : names) all.push_back(Describe(row, name));
  return all;
}

// How Kubernetes orders versions: v2, v1, v1beta2, v1beta1, v1alpha1, then anything else by name.
auto VersionRank(std::string_view version) {
  std::string_view rest = version;
  const auto number = [&] {
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const auto value = WholeNumber(rest.substr(0, digits), INT32_MAX);
    rest.remove_prefix(digits);
    return value;
  };
  constexpr int kUnknown = 3;
  int stage = kUnknown;
  std::int64_t major = 0;
  std::int64_t minor = 0;
  if (rest.starts_with('v')) {
    rest.remove_prefix(1);
    const auto first = number();
    const bool beta = rest.starts_with("beta");
    const bool alpha = rest.starts_with("alpha");
    const bool stable = rest.empty();
    if (beta || alpha) rest.remove_prefix(beta ? 4 : 5);
    const auto second = stable ? std::optional<std::int64_t>(0) : number();
    if (first && second && rest.empty() && (stable || beta || alpha)) {
      stage = stable ? 0 : beta ? 1 : 2;
      major = *first;
      minor = *second;
    }
  }
  return std::tuple(stage, -major, -minor, version);
}

struct Group {
  std::string_view name;
  std::vector<std::string_view> versions;  // the preferred one first
};

// In the order of the table; without the core group.
std::vector<Group> GroupsOf(const ResourceTable& table) {
  std::vector<Group> groups;
  for (const ResourceRef& row : table.rows()) {
    if (row->group.empty()) continue;
    auto group = std::find_if(
        groups.begin(), groups.end(), [&](const Group& known) { return known.name == row->group; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{row->group, {}});
    std::vector<std::string_view>& versions = group->versions;
    if (std::find(versions.begin(), versions.end(), row->version) == versions.end()) {
      versions.push_back(row->version);
    }
  }
  for (Group& group : groups) {
    std::sort(group.versions.begin(), group.versions.end(), [](auto a, auto b) {
      return VersionRank(a) < VersionRank(b);
    });
  }
  return groups;
}

json GroupVersion(std::string_view group, std::string_view version) {
  return {{"groupVersion", std::string(group) + "/" + std::string(version)}, {"version", version}};
}

json ToApiGroup(const Group& group) {
  json versions = json::array();
  for (const std::string_view version : group.versions) {
    versions.push_back(GroupVersion(group.name, version));
  }
  return {{"name", group.name},
          {"versions", std::move(versions)},
          {"preferredVersion", GroupVersion(group.name, group.versions.front())}};
}

void AddRow(const Resource& row, json& resources) {
  json entry = {{"name", row.plural},
                {"singularName", row.singular},
                {"namespaced", row.namespaced},
                {"kind", row.kind},
                {"verbs", Verbs(row)}};
  if (!row.short_names.empty()) entry["shortNames"] = row.short_names;
  if (!row.categories.empty()) entry["categories"] = row.categories;
  resources.push_back(std::move(entry));
  for (const Subresource& sub : SubresourcesOf(row)) {
    json below = {{"name", row.plural + "/" + sub.name},
                  {"singularName", ""},
                  {"namespaced", row.namespaced},
                  {"kind", sub.kind},
                  {"verbs", sub.verbs}};
    if (sub.group != row.group || sub.version != row.version) {
      below["group"] = sub.group;
      below["version"] = sub.version;
    }
    resources.push_back(std::move(below));
  }
}

json ResponseKind(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

json AggregatedRow(const Resource& row) {
  json entry = {{"resource", row.plural},
                {"responseKind", ResponseKind(row.group, row.version, row.kind)},
                {"scope", row.namespaced ? "Namespaced" : "Cluster"},
                {"singularResource", row.singular},
                {"verbs", Verbs(row)}};
  if (!row.short_names.empty()) entry["shortNames"] = row.short_names;
  if (!row.categories.empty()) entry["categories"] = row.categories;
  for (const Subresource& sub : SubresourcesOf(row)) {
    entry["subresources"].push_back(
        {{"subresource", sub.name},
         {"responseKind", ResponseKind(sub.group, sub.version, sub.kind)},
         {"verbs", sub.verbs}});
  }
  return entry;
}

json AggregatedVersion(const ResourceTable& table,
                       std::string_view group,
                       std::string_view version) {
  json resources = json::array();
  for (const ResourceRef& row : table.rows()) {
    if (row->group == group && row->version == version) resources.push_back(AggregatedRow(*row));
  }
  return {{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}};
}

}  // namespace

json CoreVersions(std::string_view server_address) {
  return {{"kind", "APIVersions"},
          {"versions", {"v1"}},
          {"serverAddressByClientCIDRs",
           json::array({{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server_address}}})}};
}

json GroupList(const ResourceTable& table) {
  json groups = json::array();
  for (const Group& group : GroupsOf(table)) groups.push_back(ToApiGroup(group));
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

json GroupInfo(const ResourceTable& table, std::string_view group) {
  for (const Group& known : GroupsOf(table)) {
    if (known.name != group) continue;
    json info = ToApiGroup(known);
    info["kind"] = "APIGroup";
    info["apiVersion"] = "v1";
    return info;
  }
  return nullptr;
}

json ResourceList(const ResourceTable& table, std::string_view group, std::string_view version) {
  json resources = json::array();
  for (const ResourceRef& row : table.rows()) {
    if (row->group == group && row->version == version) AddRow(*row, resources);
  }
  if (resources.empty()) return nullptr;
  std::string group_version(version);
  if (!group.empty()) group_version = std::string(group) + "/" + group_version;
  return {{"kind", "APIResourceList"},
          {"apiVersion", "v1"},
          {"groupVersion", std::move(group_version)},
          {"resources", std::move(resources)}};
}

json AggregatedDiscovery(const ResourceTable& table, DiscoveryOf what) {
  json items = json::array();
  if (what == DiscoveryOf::kCore) {
    items.push_back({{"metadata", json::object()},
                     {"versions", json::array({AggregatedVersion(table, "", "v1")})}});
  } else {
    for (const Group& group : GroupsOf(table)) {
      json versions = json::array();
      for (const std::string_view version : group.versions) {
        versions.push_back(AggregatedVersion(table, group.name, version));
      }
      items.push_back({{"metadata", {{"name", group.name}}}, {"versions", std::move(versions)}});
    }
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/v2"},
          {"metadata", json::object()},
          {"items", std::move(items)}};
}

}  // namespace strata::apiserver
