#include "objects/queue.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "objects/readers.h"
#include "objects/syntax.h"
#include "objects/value.h"
#include "objects/volcano_keys.h"

namespace strata::objects {
namespace {

void ReadNodeGroups(const Cursor& at, NodeGroupTerms& out) {
  at.At("requiredDuringSchedulingIgnoredDuringExecution").Read(out.required);
  at.At("preferredDuringSchedulingIgnoredDuringExecution").Read(out.preferred);
}

// {"group": {"cpu": "4"}}, as text.
void ReadNodeGroupLimits(const Cursor& object, Queue& out) {
  const std::string* text = Find(out.meta.annotations, kNodeGroupLimitsKey);
  if (text == nullptr || text->empty()) return;
  const Cursor meta = object.At("metadata");
  const Cursor annotations = meta.At("annotations");
  const Cursor at = annotations.At(kNodeGroupLimitsKey);
  const auto document = Document::ParseJson(*text);
  if (!document) return at.Fail(document.error().message);
  ReadLog log;
  const Cursor groups(document->root(), log);
  groups.ForEachMember([&](std::string_view group, const Cursor& limits) {
    limits.Required();
    limits.ForEachMember([](std::string_view /*name*/, const Cursor& limit) { limit.Required(); });
    ReadResources(limits, out.node_group_limits[std::string(group)]);
  });
  if (!log.error.empty()) at.Fail(log.error);
}

// A list of amounts and its name in messages: that of Volcano's webhook.
struct NamedList {
  std::string_view name;
  const ResourceList& amounts;
};

void CheckWithinCapability(const Cursor& at, const NamedList& list, const Queue& queue) {
  for (const auto& [name, amount] : list.amounts) {
    const auto limit = queue.capability.find(name);
    if (limit == queue.capability.end() || amount <= limit->second) continue;
    at.At(name).Fail(fmt::format("{0}[{1}]={2} must be <= capability[{1}]={3}",
                                 list.name,
                                 name,
                                 amount.ToString(),
                                 limit->second.ToString()));
  }
}

// A queue that names no `deserved` at all is taken as it is: older ones do not know of it.
void CheckWithinDeserved(const Cursor& guarantee, const Queue& queue) {
  if (queue.deserved.empty()) return;
  for (const auto& [name, amount] : queue.guarantee) {
    const auto deserved = queue.deserved.find(name);
    const bool is_named = deserved != queue.deserved.end();
    if (amount <= (is_named ? deserved->second : Quantity())) continue;
    guarantee.At(name).Fail(fmt::format("deserved[{0}]{1} must be >= guarantee[{0}]={2}",
                                        name,
                                        is_named ? "=" + deserved->second.ToString() : "",
                                        amount.ToString()));
  }
}

}  // namespace

std::string_view ToString(QueueState state) {
  switch (state) {
    case QueueState::kOpen:
      return "Open";
    case QueueState::kClosed:
      return "Closed";
    case QueueState::kClosing:
      return "Closing";
    case QueueState::kUnknown:
      break;
  }
  return "Unknown";
}

void ReadObject(const Cursor& object, Queue& out) {
  constexpr std::array<std::pair<std::string_view, QueueState>, 5> kStates = {
      {{"Open", QueueState::kOpen},
       {"Closed", QueueState::kClosed},
       {"Closing", QueueState::kClosing},
       {"Unknown", QueueState::kUnknown},
       {"", QueueState::kOpen}}};
  const Cursor spec = object.At("spec");
  spec.At("weight").Read(out.weight, {0, 65535});
  if (out.weight == 0) out.weight = 1;  // as Volcano's webhook has it
  spec.At("reclaimable").Read(out.reclaimable);
  spec.At("priority").Read(out.priority, kCount32);
  spec.At("parent").Read(out.parent);
  if (out.parent.empty() && out.meta.name != "root") out.parent = "root";
  spec.At("type").Read(out.type);
  spec.At("dequeueStrategy").Read(out.dequeue_strategy);

  const Cursor capability = spec.At("capability");
  const Cursor deserved = spec.At("deserved");
  const Cursor guarantee_at = spec.At("guarantee");
  const Cursor guarantee = guarantee_at.At("resource");
  ReadResources(capability, out.capability);
  ReadResources(deserved, out.deserved);
  ReadResources(guarantee, out.guarantee);
  CheckWithinCapability(deserved, {"deserved", out.deserved}, out);
  CheckWithinCapability(guarantee, {"guarantee", out.guarantee}, out);
  CheckWithinDeserved(guarantee, out);

  const Cursor affinity = spec.At("affinity");
  ReadNodeGroups(affinity.At("nodeGroupAffinity"), out.node_groups);
  ReadNodeGroups(affinity.At("nodeGroupAntiAffinity"), out.anti_node_groups);
  ReadNodeGroupLimits(object, out);
  const Cursor status = object.At("status");
  status.At("state").ReadEnum(out.state, kStates);
  ReadResources(status.At("allocated"), out.allocated);
}

}  // namespace strata::objects
