#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/object_reading.h"
#include "admission/queue_rules.h"
#include "base/quantity.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::admission {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 5;  // below root
constexpr std::string_view kRoot = "root";

const QueueNode* FindQueue(const std::vector<QueueNode>& queues, std::string_view name) {
  const auto found = std::find_if(
      queues.begin(), queues.end(), [&](const QueueNode& node) { return node.name == name; });
  return found == queues.end() ? nullptr : &*found;
}

Quantity ToAmount(const json& value) {
  const auto parsed =
      Quantity::Parse(value.is_string() ? value.get<std::string>() : DumpJson(value));
  return parsed ? *parsed : Quantity();
}

bool ReadQueue(const json& object, Problems& problems) {
  const auto read = [](const objects::Cursor& at) {
    objects::Queue queue;
    objects::ReadName(at, objects::Scope::kCluster, queue.meta);
    objects::ReadMetadata(at, queue.meta);
    objects::ReadObject(at, queue);
  };
  return problems.empty() && ReadWith(object, "", read, problems);
}

bool HasPodGroups(const ObjectReader& store, const std::string& queue) {
  bool any = false;
  store.VisitLatest("podgroups.scheduling.volcano.sh", "", [&](const StoredObject& object) {
    const json parsed = ParseJsonOrNull(object.body);
    any = TextAt(parsed, {"spec", "queue"}) == queue;
    return !any;
  });
  return any;
}

// The way up from `parent` ends at root, not at the queue itself, and is not too long.
bool CheckAncestors(const ObjectReader& store,
                    const QueueNode& queue,
                    const std::vector<QueueNode>& queues,
                    Problems& problems) {
  const auto refuse = [&](const std::string& why) {
    problems.Invalid("spec.parent", queue.parent, why);
    return false;
  };
  std::size_t depth = 1;
  std::string_view at = queue.parent;
  while (at != kRoot) {
    if (at == queue.name) return refuse("a queue cannot be below itself");
    const QueueNode* node = FindQueue(queues, at);
    if (node == nullptr) {
      store.Missed({std::string(kQueueResource), "", std::string(at)});
      return refuse(fmt::format("parent queue {} not found", at));
    }
    at = node->parent;
    if (++depth > kMaxDepth) {
      return refuse(
          fmt::format("queue {} exceeds the maximum allowed depth of {}: the hierarchy "
                      "would be deeper than {} levels",
                      queue.name,
                      kMaxDepth,
                      kMaxDepth));
    }
  }
  return true;
}

// A parent and the queues below it, one of which may be new.
struct Family {
  const QueueNode* parent;
  std::vector<const QueueNode*> children;
};

std::string ExceedsText(const std::string& parent,
                        std::string_view what,
                        const std::string& resource,
                        const Quantity& sum,
                        const Quantity& max) {
  const char* of_children = what == "capability" ? "largest child's" : "sum of children's";
  return fmt::format("{} of queue {}: {} {} ({}) exceeds parent's {} limit ({})",
                     resource,
                     parent,
                     of_children,
                     what,
                     sum.ToString(),
                     what,
                     max.ToString());
}

// What the children have of `list` together must not be more than the parent has, of each resource
// that the parent names; of a capability each alone.
void CheckShares(const Family& family, std::string_view what, Problems& problems) {
  const auto amounts = [&](const QueueNode& node) -> const json& {
    return what == "guarantee" ? ObjectAt(node.spec, {"guarantee", "resource"})
                               : ObjectAt(node.spec, {what});
  };
  for (const auto& [resource, value] : amounts(*family.parent).items()) {
    const Quantity max = ToAmount(value);
    Quantity sum;
    for (const QueueNode* child : family.children) {
      const json* amount = FindAt(amounts(*child), {resource});
      if (amount == nullptr) continue;
      const Quantity part = ToAmount(*amount);
      sum = what == "capability" ? std::max(sum, part) : sum + part;
    }
    if (sum <= max) continue;
    problems.Invalid(fmt::format("spec.{}", what),
                     sum.ToString(),
                     ExceedsText(family.parent->name, what, resource, sum, max));
  }
}

Family FamilyOf(const QueueNode& parent, const std::vector<QueueNode>& queues) {
  Family family{&parent, {}};
  for (const QueueNode& node : queues) {
    if (node.parent == parent.name) family.children.push_back(&node);
  }
  return family;
}

void CheckHierarchy(const AdmissionContext& context,
                    const json& object,
                    bool moves,
                    Problems& problems) {
  const QueueNode queue = ToQueueNode(TextAt(object, {"metadata", "name"}), object);
  std::vector<QueueNode> queues = ReadQueues(context.store);
  std::erase_if(queues, [&](const QueueNode& node) { return node.name == queue.name; });
  if (queue.name != kRoot && !CheckAncestors(context.store, queue, queues, problems)) return;
  if (moves && queue.parent != kRoot && HasPodGroups(context.store, queue.parent)) {
    problems.Invalid(
        "spec.parent",
        queue.parent,
        fmt::format("queue {} cannot be the parent queue of queue {} because it has jobs",
                    queue.parent,
                    queue.name));
  }
  queues.push_back(queue);
  for (const std::string_view what : {"capability", "deserved", "guarantee"}) {
    CheckShares(FamilyOf(queue, queues), what, problems);
    const QueueNode* parent = FindQueue(queues, queue.parent);
    if (parent != nullptr) CheckShares(FamilyOf(*parent, queues), what, problems);
  }
}

// What the reader cannot refuse: queues that were made without this rule must stay readable.
void CheckGuarantee(const json& object, Problems& problems) {
  if (!ObjectAt(object, {"spec", "deserved"}).empty()) return;
  for (const auto& [resource, value] :
       ObjectAt(object, {"spec", "guarantee", "resource"}).items()) {
    const Quantity amount = ToAmount(value);
    if (amount.IsZero()) continue;
    problems.Invalid(
        fmt::format("spec.deserved.{}", resource),
        nullptr,
        fmt::format("deserved[{0}] must be >= guarantee[{0}]={1}", resource, amount.ToString()));
  }
}

void SetQueueDefaults(json& object) {
  json* spec = FindAt(object, {"spec"});
  if (spec == nullptr || !spec->is_object()) return;
  SetDefault(*spec, "reclaimable", true);
  // As a webhook would; where the schema is asked first, it refuses a 0.
  if (IntegerAt(*spec, {"weight"}, -1) == 0) (*spec)["weight"] = 1;
}

}  // namespace

ApiResult<void> CreateQueue(const AdmissionContext& context, json& object, Problems& problems) {
  CompleteHierarchy(object);
  SetQueueDefaults(object);
  if (!ReadQueue(object, problems)) return {};
  CheckGuarantee(object, problems);
  CheckHierarchyAnnotations(context.store, object, problems);
  CheckHierarchy(context, object, true, problems);
  return {};
}

ApiResult<void> UpdateQueue(const AdmissionContext& context, const Edit& edit, Problems& problems) {
  SetQueueDefaults(edit.after);
  const bool moves =
      TextAt(edit.before, {"spec", "parent"}) != TextAt(edit.after, {"spec", "parent"});
  // A queue that changes nothing in the tree may always be labelled, annotated and released.
  const bool same = ObjectAt(edit.before, {"spec"}) == ObjectAt(edit.after, {"spec"});
  const bool readable = ReadQueue(edit.after, problems);
  if (readable && !HaveSameHierarchy(edit.before, edit.after)) {
    CheckHierarchyAnnotations(context.store, edit.after, problems);
  }
  if (readable && !same) {
    CheckGuarantee(edit.after, problems);
    CheckHierarchy(context, edit.after, moves, problems);
  }
  if (TextAt(edit.before, {"metadata", "name"}) != kRoot) return {};
  for (const std::string_view key : {"capability", "deserved", "guarantee"}) {
    if (ObjectAt(edit.before, {"spec", key}) == ObjectAt(edit.after, {"spec", key})) continue;
    problems.Forbidden(fmt::format("spec.{}", key), "resources of the root queue are immutable");
  }
  return {};
}

ApiResult<void> UpdateQueueStatus(const AdmissionContext& /*context*/,
                                  const Edit& edit,
                                  Problems& problems) {
  ReadQueue(edit.after, problems);
  return {};
}

ApiResult<void> DeleteQueue(const AdmissionContext& context, const json& object) {
  const std::string& name = TextAt(object, {"metadata", "name"});
  const auto refuse = [&](const std::string& why) {
    return tl::unexpected(Forbidden(context.resource, name, why));
  };
  if (name == "default" || name == kRoot) {
    return refuse(fmt::format("`{}` queue can not be deleted", name));
  }
  std::vector<std::string> children;
  for (const QueueNode& queue : ReadQueues(context.store)) {
    if (queue.parent == name) children.push_back(queue.name);
  }
  if (!children.empty()) {
    return refuse(fmt::format("queue {} can not be deleted because it has {} child queues: {}",
                              name,
                              children.size(),
                              fmt::join(children, ", ")));
  }
  const json* pods = FindAt(object, {"status", "allocated", "pods"});
  const Quantity allocated = pods == nullptr ? Quantity() : ToAmount(*pods);
  if (context.used_queues == UsedQueues::kStay && !allocated.IsZero()) {
    return refuse(fmt::format("queue {} cannot be deleted because it has allocated Pods: {}",
                              name,
                              allocated.ToString()));
  }
  return {};
}

}  // namespace strata::admission
