#include "objects/pod_group.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {
namespace {

constexpr std::array<std::pair<std::string_view, PodGroupPhase>, 5> kPodGroupPhases = {
    {{"Pending", PodGroupPhase::kPending},
     {"Inqueue", PodGroupPhase::kInqueue},
     {"Running", PodGroupPhase::kRunning},
     {"Unknown", PodGroupPhase::kUnknown},
     {"Completed", PodGroupPhase::kCompleted}}};

constexpr std::size_t kMaxName = 253;

void ReadShortString(const Cursor& at, std::string& out) {
  at.Read(out);
  if (out.size() > kMaxName) at.Fail("too long (253 characters at most)");
}

void ReadSubGroup(const Cursor& at, SubGroupPolicy& out) {
  ReadShortString(at.At("name"), out.name);
  const Cursor topology = at.At("networkTopology");
  if (topology.present()) ReadNetworkTopology(topology, out.topology.emplace());
  at.At("subGroupSize").Read(out.sub_group_size, {1, INT32_MAX});
  at.At("minSubGroups").Read(out.min_sub_groups, kCount32);
  const Cursor selector = at.At("labelSelector");
  if (selector.present()) ReadLabelSelector(selector, out.selector.emplace());
  at.At("matchLabelKeys").Read(out.match_label_keys);
}

void ReadStatus(const Cursor& status, PodGroup& out) {
  const Cursor phase = status.At("phase");
  const bool unset = phase.present() && phase.value().type() == Value::Type::kString &&
                     phase.value().AsString().empty();
  if (!unset) phase.ReadEnum(out.phase, kPodGroupPhases);
  ReadConditions(status.At("conditions"), out.conditions);
  status.At("running").Read(out.running, kCount32);
  status.At("succeeded").Read(out.succeeded, kCount32);
  status.At("failed").Read(out.failed, kCount32);
}

}  // namespace

std::optional<TopologyMode> TopologyModeFrom(std::string_view word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (lower == "hard") return TopologyMode::kHard;
  if (lower == "soft") return TopologyMode::kSoft;
  return std::nullopt;
}

void ReadNetworkTopology(const Cursor& at, NetworkTopology& out) {
  std::string mode = "hard";
  at.At("mode").Read(mode);
  if (const auto known = TopologyModeFrom(mode)) {
    out.mode = *known;
  } else {
    at.At("mode").UnknownWord(mode, {"hard", "soft"});
  }
  at.At("highestTierAllowed").Read(out.highest_tier_allowed, kCount32);
  ReadShortString(at.At("highestTierName"), out.highest_tier_name);
  if (out.highest_tier_allowed && !out.highest_tier_name.empty()) {
    at.Fail(
        "must not specify 'highestTierAllowed' and 'highestTierName' in networkTopology "
        "simultaneously (want one of them)");
  }
}

void ReadObject(const Cursor& object, PodGroup& out) {
  const Cursor spec = object.At("spec");
  spec.At("minMember").Read(out.min_member, kCount32);
  spec.At("minTaskMember").ForEachMember([&](std::string_view task, const Cursor& member) {
    member.Read(out.min_task_member[std::string(task)], kCount32);
  });
  out.queue.clear();
  spec.At("queue").Read(out.queue);
  if (!out.queue.empty()) CheckDnsSubdomain(spec.At("queue"), out.queue);
  spec.At("priorityClassName").Read(out.priority_class_name);
  const Cursor min_resources = spec.At("minResources");
  if (min_resources.present()) ReadResources(min_resources, out.min_resources.emplace());
  const Cursor topology = spec.At("networkTopology");
  if (topology.present()) ReadNetworkTopology(topology, out.topology.emplace());
  spec.At("subGroupPolicy").ReadList(out.sub_groups, ReadSubGroup);
  ReadStatus(object.At("status"), out);
}

std::string_view ToString(PodGroupPhase phase) {
  for (const auto& [word, value] : kPodGroupPhases) {
    if (value == phase) return word;
  }
  return "Unknown";
}

std::optional<PodGroupPhase> PodGroupPhaseFrom(std::string_view word) {
  for (const auto& [name, value] : kPodGroupPhases) {
    if (name == word) return value;
  }
  return std::nullopt;
}

}  // namespace strata::objects
