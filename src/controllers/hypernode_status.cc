#include "controllers/hypernode_status.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ids.h"
#include "base/timestamp.h"
#include "controllers/cluster_objects.h"
#include "controllers/object_meta.h"
#include "json/access.h"
#include "model/hypernode_tree.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

constexpr std::size_t kNamesShown = 5;

struct Verdict {
  const char* type;
  bool holds = false;
  std::string reason;
  std::string message;
};

// Sets the condition, with the time of its last change.
void SetCondition(const Verdict& verdict, Time now, json& conditions) {
  const char* status = verdict.holds ? "True" : "False";
  json condition = {
      {"type", verdict.type},
      {"status", status},
      {"reason", verdict.reason},
      {"message", verdict.message},
      {"lastTransitionTime", FormatTimestamp(std::chrono::floor<std::chrono::seconds>(now))}};
  for (json& known : conditions) {
    if (TextAt(known, {"type"}) != verdict.type) continue;
    const std::string& since = TextAt(known, {"lastTransitionTime"});
    if (TextAt(known, {"status"}) == status && !since.empty()) {
      condition["lastTransitionTime"] = since;
    }
    if (const json* generation = FindAt(known, {"observedGeneration"})) {
      condition["observedGeneration"] = *generation;
    }
    known = std::move(condition);
    return;
  }
  conditions.push_back(std::move(condition));
}

std::vector<std::string> MissingMembers(const HyperNodeSpec& spec,
                                        const std::set<std::string>& nodes,
                                        const std::set<std::string>& hypernodes) {
  std::vector<std::string> missing;
  for (const HyperNodeMember& member : spec.members) {
    const auto* exact = std::get_if<HyperNodeMember::Exact>(&member.selector);
    if (exact == nullptr) continue;
    const bool is_node = member.kind == HyperNodeMember::Kind::kNode;
    if (!(is_node ? nodes : hypernodes).contains(exact->name)) missing.push_back(exact->name);
  }
  return missing;
}

Verdict MissingVerdict(const std::vector<std::string>& missing) {
  if (missing.empty()) {
    return {.type = "MissingMembers", .reason = "AllPresent", .message = "every member exists"};
  }
  const auto shown = static_cast<std::ptrdiff_t>(std::min(missing.size(), kNamesShown));
  return {.type = "MissingMembers",
          .holds = true,
          .reason = "NotFound",
          .message = fmt::format("{} members do not exist: {}{}",
                                 missing.size(),
                                 fmt::join(missing.begin(), missing.begin() + shown, ", "),
                                 missing.size() > kNamesShown ? ", ..." : "")};
}

bool HasCondition(const json& conditions, const char* type) {
  return std::any_of(conditions.begin(), conditions.end(), [&](const json& condition) {
    return TextAt(condition, {"type"}) == type;
  });
}

}  // namespace

Plan ReconcileHyperNodeStatus(const std::vector<ObjectRef>& hypernodes,
                              const std::vector<ObjectRef>& nodes,
                              Time now) {
  HyperNodeTree tree;
  std::set<std::string> node_names;
  for (const ObjectRef& object : nodes) {
    const objects::Node node = NodeFrom(*object);
    tree.UpsertNode(IdAt<NodeId>(node_names.size()), node.meta.name, node.meta.labels);
    node_names.insert(node.meta.name);
  }
  std::map<std::string, std::pair<ObjectRef, HyperNodeSpec>> known;
  std::set<std::string> names;
  for (const ObjectRef& object : hypernodes) {
    std::optional<objects::HyperNode> read = HyperNodeFrom(*object);
    if (!read) continue;
    tree.UpsertHyperNode(read->spec);
    names.insert(read->meta.name);
    known[read->meta.name] = {object, std::move(read->spec)};
  }
  Plan plan;
  std::vector<Write> writes;
  for (const auto& [name, pair] : known) {
    const auto& [object, spec] = pair;
    const std::optional<HyperNodeId> id = tree.Find(name);
    if (!id) continue;
    const HyperNodeTree::HyperNode& resolved = tree.at(*id);
    const std::size_t count = resolved.in_tree ? tree.NodesOf(*id).size() : 0;
    const json& old = ListAt(*object, {"status", "conditions"});
    json conditions = old;
    SetCondition({.type = "Ready",
                  .holds = resolved.ready,
                  .reason = resolved.ready ? "Resolved" : "AtFault",
                  .message = resolved.reason},
                 now,
                 conditions);
    const std::vector<std::string> missing = MissingMembers(spec, node_names, names);
    if (!missing.empty() || HasCondition(old, "MissingMembers")) {
      SetCondition(MissingVerdict(missing), now, conditions);
    }
    const json* counted = FindAt(*object, {"status", "nodeCount"});
    if (counted != nullptr && *counted == count && old == conditions) continue;
    Write write =
        PatchOf(kube::kHyperNodes,
                *object,
                {{"status", {{"nodeCount", count}, {"conditions", std::move(conditions)}}}});
    write.subresource = "status";
    writes.push_back(std::move(write));
  }
  AddStep(plan, std::move(writes));
  return plan;
}

}  // namespace strata::controllers
