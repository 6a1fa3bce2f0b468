#include "sched/eviction/settings.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace strata {
namespace {

constexpr std::string_view kMaxDomainsKey = "maxDomains";
constexpr std::string_view kWholeBundleKey = "allowWholeBundle";
constexpr std::string_view kOrderKey = "victimOrderPolicy";
constexpr std::string_view kDryRunKey = "dryRun";
constexpr std::string_view kMaxGangsKey = "maxGangsPerMinute";
constexpr std::string_view kErrorCacheKey = "predicateErrorCacheEnable";
constexpr std::string_view kTopologyAwareKey = "enableTopologyAwarePreemption";
// They limit what Volcano looks at; here everything is looked at.
constexpr std::array<std::string_view, 4> kVolcanoLimits = {"topologyAwarePreemptWorkerNum",
                                                            "minCandidateNodesPercentage",
                                                            "minCandidateNodesAbsolute",
                                                            "maxCandidateNodesAbsolute"};

struct EvictionRow {
  std::string_view name;
  EvictionKind kind;
  bool by_gang;
};
constexpr std::array<EvictionRow, 4> kEvictionActions = {
    {{"gangpreempt", EvictionKind::kPreempt, true},
     {"gangreclaim", EvictionKind::kReclaim, true},
     {"preempt", EvictionKind::kPreempt, false},
     {"reclaim", EvictionKind::kReclaim, false}}};

const EvictionRow* FindEvictionRow(std::string_view name) {
  const auto* it = std::find_if(kEvictionActions.begin(),
                                kEvictionActions.end(),
                                [&](const EvictionRow& row) { return row.name == name; });
  return it == kEvictionActions.end() ? nullptr : it;
}

Result<VictimOrder> ReadVictimOrder(const Arguments& arguments) {
  TRY_ASSIGN(const std::string word, arguments.String(kOrderKey, "safe-first"));
  if (word == "safe-first") return VictimOrder::kSafeFirst;
  if (word == "priority-first") return VictimOrder::kPriorityFirst;
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: want safe-first or priority-first, found \"{}\"", kOrderKey, word));
}

// Checks the arguments that only Volcano needs, and adds them to the known ones.
Status ReadVolcanoOnly(const ActionConfig& action,
                       const EvictionRow& row,
                       std::vector<std::string_view>& known) {
  if (row.by_gang) return {};
  known.push_back(kErrorCacheKey);
  TRY(action.arguments.Bool(kErrorCacheKey, true));
  if (row.kind == EvictionKind::kReclaim) return {};
  known.push_back(kTopologyAwareKey);
  TRY(action.arguments.Bool(kTopologyAwareKey, false));
  for (const std::string_view key : kVolcanoLimits) {
    known.push_back(key);
    TRY(action.arguments.Int(key, 0));
  }
  return {};
}

}  // namespace

bool IsEvictionAction(std::string_view name) {
  return FindEvictionRow(name) != nullptr;
}

std::vector<std::string> RemoveEvictionActions(SchedulerConfig& config) {
  std::vector<std::string> removed;
  std::erase_if(config.actions, [&](const ActionConfig& action) {
    const bool evicts = IsEvictionAction(action.name);
    if (evicts) removed.push_back(action.name);
    return evicts;
  });
  return removed;
}

Result<EvictionArguments> ReadEvictionSettings(const ActionConfig& action) {
  const EvictionRow& row = *FindEvictionRow(action.name);
  EvictionArguments read;
  EvictionSettings& settings = read.settings;
  settings.action = action.name;
  settings.kind = row.kind;
  settings.by_gang = row.by_gang;
  std::vector<std::string_view> known = {kMaxDomainsKey, kOrderKey, kDryRunKey, kMaxGangsKey};
  const auto fallback = static_cast<std::int64_t>(settings.max_domains);
  TRY_ASSIGN(const std::int64_t domains, action.arguments.Int(kMaxDomainsKey, fallback));
  if (domains > 0) {
    settings.max_domains = static_cast<std::size_t>(domains);
  } else {
    read.warnings.push_back(
        fmt::format("{}: {} is below 1, {} is used", kMaxDomainsKey, domains, fallback));
  }
  TRY_ASSIGN(settings.order, ReadVictimOrder(action.arguments));
  TRY_ASSIGN(settings.dry_run, action.arguments.Bool(kDryRunKey, false));
  TRY_ASSIGN(const std::int64_t gangs, action.arguments.Int(kMaxGangsKey, 0));
  if (gangs < 0) {
    read.warnings.push_back(
        fmt::format("{}: {} is below 0, no limit is used", kMaxGangsKey, gangs));
  } else {
    settings.max_gangs_per_minute = static_cast<std::size_t>(gangs);
  }
  if (row.by_gang) {
    known.push_back(kWholeBundleKey);
    TRY_ASSIGN(settings.allow_whole_gangs, action.arguments.Bool(kWholeBundleKey, true));
  }
  TRY(ReadVolcanoOnly(action, row, known));
  for (const std::string& key : action.arguments.Unknown(known)) {
    read.warnings.push_back(key + ": unknown argument, ignored");
  }
  return read;
}

}  // namespace strata
