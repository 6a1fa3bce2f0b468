#include "controllers/garbage.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "controllers/object_meta.h"
#include "json/access.h"
#include "json/dump.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

constexpr const char* kForeground = "foregroundDeletion";
constexpr const char* kOrphan = "orphan";

OwnedSeen See(const Cache::Change& change) {
  const json& object = *change.seen;
  OwnedSeen seen;
  seen.resource = *change.resource;
  seen.key = {TextAt(object, {"metadata", "namespace"}), TextAt(object, {"metadata", "name"})};
  seen.uid = TextAt(object, {"metadata", "uid"});
  seen.version = change.version;
  seen.being_deleted = IsBeingDeleted(object);
  for (const json& owner : ListAt(object, {"metadata", "ownerReferences"})) {
    seen.owners.push_back({.api_version = TextAt(owner, {"apiVersion"}),
                           .kind = TextAt(owner, {"kind"}),
                           .name = TextAt(owner, {"name"}),
                           .uid = TextAt(owner, {"uid"}),
                           .controls = BoolAt(owner, {"controller"}),
                           .blocks = BoolAt(owner, {"blockOwnerDeletion"})});
  }
  for (const json& finalizer : ListAt(object, {"metadata", "finalizers"})) {
    if (finalizer.is_string()) seen.finalizers.push_back(finalizer.get<std::string>());
  }
  return seen;
}

bool Has(const OwnedSeen& object, const char* finalizer) {
  const auto& all = object.finalizers;
  return std::find(all.begin(), all.end(), finalizer) != all.end();
}

Write WriteFor(Write::Verb verb, const OwnedSeen& object) {
  Write write;
  write.verb = verb;
  write.resource = object.resource;
  write.ns = object.key.ns;
  write.name = object.key.name;
  if (verb == Write::Verb::kDelete) write.uid = object.uid;
  return write;
}

Write MetadataPatch(const OwnedSeen& object, json changes) {
  Write write = WriteFor(Write::Verb::kPatch, object);
  changes["uid"] = object.uid;
  changes["resourceVersion"] = object.version;
  write.body = DumpJson({{"metadata", std::move(changes)}});
  return write;
}

Write WithoutFinalizer(const OwnedSeen& object, const char* finalizer) {
  std::vector<std::string> left = object.finalizers;
  std::erase(left, finalizer);
  return MetadataPatch(object, {{"finalizers", left}});
}

Write WithoutOwner(const OwnedSeen& object, const std::string& uid) {
  json owners = json::array();
  for (const OwnerSeen& owner : object.owners) {
    if (owner.uid == uid) continue;
    owners.push_back({{"apiVersion", owner.api_version},
                      {"kind", owner.kind},
                      {"name", owner.name},
                      {"uid", owner.uid},
                      {"controller", owner.controls},
                      {"blockOwnerDeletion", owner.blocks}});
  }
  return MetadataPatch(object, {{"ownerReferences", std::move(owners)}});
}

// Whether somebody else who is still there owns it, too.
bool IsShared(const OwnedSeen& dependent, const GarbageView& view) {
  return std::any_of(dependent.owners.begin(), dependent.owners.end(), [&](const auto& owner) {
    return owner.uid != view.object.uid && !view.is_gone(owner, dependent.key.ns);
  });
}

bool Blocks(const OwnedSeen& dependent, const std::string& uid) {
  return std::any_of(dependent.owners.begin(), dependent.owners.end(), [&](const auto& owner) {
    return owner.uid == uid && owner.blocks;
  });
}

Plan DeleteForeground(const GarbageView& view) {
  Plan plan;
  std::vector<Write> writes;
  bool blocked = false;
  for (const OwnedSeen& dependent : view.dependents) {
    blocked = blocked || Blocks(dependent, view.object.uid);
    if (dependent.being_deleted) continue;
    writes.push_back(IsShared(dependent, view) ? WithoutOwner(dependent, view.object.uid)
                                               : WriteFor(Write::Verb::kDelete, dependent));
  }
  if (!blocked) writes.push_back(WithoutFinalizer(view.object, kForeground));
  AddStep(plan, std::move(writes));
  return plan;
}

Plan LeaveOrphans(const GarbageView& view) {
  Plan plan;
  std::vector<Write> writes;
  for (const OwnedSeen& dependent : view.dependents) {
    writes.push_back(WithoutOwner(dependent, view.object.uid));
  }
  AddStep(plan, std::move(writes));
  AddStep(plan, {WithoutFinalizer(view.object, kOrphan)});
  return plan;
}

}  // namespace

std::set<std::string> OwnerGraph::Take(const Cache::Change& change) {
  std::set<std::string> uids;
  const MutexLock lock(mutex_);
  const auto known = by_uid_.find(change.uid);
  std::vector<OwnerSeen> owners;
  if (known != by_uid_.end()) {
    owners = known->second.owners;
    Unlink(known->second);
    by_uid_.erase(known);
  }
  if (change.type == kube::Delta::Type::kDeleted) {
    if (const auto left = dependents_.find(change.uid); left != dependents_.end()) {
      uids = left->second;
    }
    for (const OwnerSeen& owner : owners) uids.insert(owner.uid);
    return uids;
  }
  if (change.seen == nullptr) return uids;
  OwnedSeen seen = See(change);
  for (const OwnerSeen& owner : seen.owners) dependents_[owner.uid].insert(seen.uid);
  const bool is_new = change.type == kube::Delta::Type::kAdded && !seen.owners.empty();
  const bool waits = seen.being_deleted && (Has(seen, kForeground) || Has(seen, kOrphan));
  if (is_new || waits || owners != seen.owners) uids.insert(seen.uid);
  if (owners != seen.owners) {  // an owner that it left may wait for that
    for (const OwnerSeen& owner : owners) uids.insert(owner.uid);
  }
  by_uid_[seen.uid] = std::move(seen);
  return uids;
}

void OwnerGraph::Unlink(const OwnedSeen& object) {
  for (const OwnerSeen& owner : object.owners) {
    const auto found = dependents_.find(owner.uid);
    if (found == dependents_.end()) continue;
    found->second.erase(object.uid);
    if (found->second.empty()) dependents_.erase(found);
  }
}

std::optional<OwnedSeen> OwnerGraph::Find(const std::string& uid) const {
  const MutexLock lock(mutex_);
  const auto found = by_uid_.find(uid);
  return found == by_uid_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<OwnedSeen> OwnerGraph::DependentsOf(const std::string& uid) const {
  const MutexLock lock(mutex_);
  std::vector<OwnedSeen> all;
  const auto found = dependents_.find(uid);
  if (found == dependents_.end()) return all;
  for (const std::string& dependent : found->second) all.push_back(by_uid_.find(dependent)->second);
  return all;
}

Plan CollectGarbage(const GarbageView& view) {
  const OwnedSeen& object = view.object;
  if (object.being_deleted) {
    if (Has(object, kOrphan)) return LeaveOrphans(view);
    if (Has(object, kForeground)) return DeleteForeground(view);
    return {};
  }
  Plan plan;
  const bool left = !object.owners.empty() &&
                    std::all_of(object.owners.begin(), object.owners.end(), [&](const auto& owner) {
                      return view.is_gone(owner, object.key.ns);
                    });
  if (left) AddStep(plan, {WriteFor(Write::Verb::kDelete, object)});
  return plan;
}

}  // namespace strata::controllers
