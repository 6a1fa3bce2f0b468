#include "controllers/gone_nodes.h"

#include <utility>
#include <vector>

#include "kube/call.h"
#include "kube/resource.h"

namespace strata::controllers {
namespace {

constexpr int kNoSuchNode = 404;

}  // namespace

bool GoneNodes::IsKnown(const std::string& node) const {
  return cache_.Find(kube::kNodes, {"", node}) != nullptr;
}

std::string GoneNodes::Concerns(const Cache::Change& change) const {
  const bool gone = change.type == kube::Delta::Type::kDeleted;
  if (*change.resource == kube::kNodes) return gone ? change.key.name : "";
  if (*change.resource != kube::kPods || change.pod == nullptr || gone) return "";
  const std::string& node = change.pod->node;
  return node.empty() || change.pod->being_deleted || IsKnown(node) ? "" : node;
}

Plan GoneNodes::Decide(const std::string& node) const {
  Plan plan;
  if (IsKnown(node)) return plan;
  std::vector<Write> deletions;
  for (const PodSeen& pod : cache_.PodsOn(node)) {
    if (!pod.being_deleted) deletions.push_back(DeleteOf(pod));
  }
  if (deletions.empty()) return plan;
  const kube::Reply found = client_.Do(kube::GetCall({kube::kNodes, "", node, ""}));
  if (found || found.error().http_status != kNoSuchNode) {
    plan.again = kPatience;  // the watch is behind, or the server cannot say
    return plan;
  }
  AddStep(plan, std::move(deletions));
  return plan;
}

}  // namespace strata::controllers
