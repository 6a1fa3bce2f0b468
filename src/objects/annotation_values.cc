#include "objects/annotation_values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/duration.h"
#include "base/timestamp.h"
#include "objects/topology.h"
#include "objects/volcano_keys.h"

namespace strata::objects {
namespace {

constexpr std::size_t kMaxShown = 60;
constexpr std::int64_t kMaxWeight = 1'000'000;
constexpr std::array<std::string_view, 5> kGpuPolicies = {
    "binpack", "spread", "numa", "mutex", "topology-aware"};
constexpr std::array<std::string_view, 2> kGpuNodePolicies = {"binpack", "spread"};
constexpr std::array<NumaPolicy, 4> kAllNumaPolicies = {NumaPolicy::kNone,
                                                        NumaPolicy::kBestEffort,
                                                        NumaPolicy::kRestricted,
                                                        NumaPolicy::kSingleNumaNode};

bool IsAmong(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// "binpack, spread or numa". REQUIRES: two words at least.
std::string Choice(std::span<const std::string_view> words) {
  return fmt::format("{} or {}", fmt::join(words.first(words.size() - 1), ", "), words.back());
}

std::string Found(std::string_view value, std::string_view wanted) {
  return fmt::format("found \"{}\", want {}", value.substr(0, kMaxShown), wanted);
}

std::string FlagProblem(std::string_view value) {
  return ParseFlag(value) ? "" : Found(value, "true or false");
}

std::string NumaBindProblem(std::string_view value) {
  return value.empty() ? "" : FlagProblem(value);
}

std::string PolicyListProblem(std::string_view value) {
  for (const std::string_view word : Split(value, ',')) {
    if (Trim(word).empty()) continue;
    if (std::string problem = GpuPolicyProblem(Trim(word)); !problem.empty()) return problem;
  }
  return "";
}

std::string WeightsProblem(std::string_view value) {
  return ParseScoreWeights(value) ? "" : Found(value, "slot=N,core=N,memory=N, not all 0");
}

std::string GroupPolicyProblem(std::string_view value) {
  return value.empty() || value == "spread" ? "" : Found(value, "spread");
}

std::string DurationProblem(std::string_view value) {
  const Result<Duration> time = ParseDuration(value);
  return time ? "" : time.error().message;
}

std::string WaitingTimeProblem(std::string_view value) {
  const Result<Duration> time = ParseWaitingTime(value);
  return time ? "" : time.error().message;
}

std::string TimeProblem(std::string_view value) {
  const Result<Time> time = ParseTimestamp(value);
  return time ? "" : time.error().message;
}

std::string PriorityProblem(std::string_view value) {
  return ParseInt32(value) ? "" : Found(value, "an integer of 32 bits");
}

// Readers accept the word in any case, as they always have: an object that a server holds keeps its
// constraint.
std::string ModeProblem(std::string_view value) {
  return value == "hard" || value == "soft" ? "" : Found(value, "hard or soft");
}

std::string TierProblem(std::string_view value) {
  const std::optional<std::int32_t> tier = ParseInt32(value);
  return tier && *tier >= 0 ? "" : Found(value, "an integer of at least 0");
}

struct ValueRule {
  std::string_view key;
  std::string (*problem)(std::string_view value) = nullptr;
  bool label_too = false;  // read from a label of that name, too
};

constexpr std::array kValueRules = {
    ValueRule{kGpuPolicyKey, PolicyListProblem},
    ValueRule{kGpuNodePolicyKey, GpuNodePolicyProblem},
    ValueRule{kGpuWeightsKey, WeightsProblem},
    ValueRule{kGpuNumaBindKey, NumaBindProblem},
    ValueRule{kVgpuGroupPolicyKey, GroupPolicyProblem},
    ValueRule{kNumaPolicyKey, NumaPolicyProblem},
    ValueRule{kPreemptableKey, FlagProblem, true},
    ValueRule{kCooldownTimeKey, DurationProblem, true},
    ValueRule{kLastCheckpointKey, TimeProblem},
    ValueRule{kTopologyModeKey, ModeProblem},
    ValueRule{kTopologyTierKey, TierProblem},
    ValueRule{kSlaKeys[0], WaitingTimeProblem},
    ValueRule{kSlaKeys[1], WaitingTimeProblem},
    ValueRule{kTaskPriorityKey, PriorityProblem},
    ValueRule{kEvictKey, FlagProblem},
};

const ValueRule* FindRule(std::string_view key) {
  const auto* found = std::find_if(kValueRules.begin(),
                                   kValueRules.end(),
                                   [&](const ValueRule& rule) { return rule.key == key; });
  return found == kValueRules.end() ? nullptr : found;
}

}  // namespace

std::optional<bool> ParseFlag(std::string_view text) {
  constexpr std::array<std::string_view, 6> kYes = {"1", "t", "T", "true", "TRUE", "True"};
  constexpr std::array<std::string_view, 6> kNo = {"0", "f", "F", "false", "FALSE", "False"};
  if (IsAmong(kYes, text)) return true;
  if (IsAmong(kNo, text)) return false;
  return std::nullopt;
}

std::optional<std::int32_t> ParseInt32(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<Duration> ParseWaitingTime(std::string_view text) {
  TRY_ASSIGN(const Duration time, ParseDuration(text));
  if (time > Duration(0)) return time;
  return Fail(Code::kInvalidArgument,
              fmt::format("want a duration above 0, found \"{}\"", text.substr(0, kMaxShown)));
}

std::optional<NumaPolicy> ParseNumaPolicy(std::string_view text) {
  if (text.empty()) return NumaPolicy::kNone;
  for (const NumaPolicy policy : kAllNumaPolicies) {
    if (text == ToString(policy)) return policy;
  }
  return std::nullopt;
}

std::optional<GpuScoreWeights> ParseScoreWeights(std::string_view text) {
  std::array<std::pair<std::string_view, std::optional<std::int64_t>>, 3> weights = {
      {{"slot", {}}, {"core", {}}, {"memory", {}}}};
  for (const std::string_view untrimmed : Split(text, ',')) {
    const std::string_view part = Trim(untrimmed);
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto weight = WholeNumber(part.substr(equals + 1), kMaxWeight);
    auto* const known = std::find_if(weights.begin(), weights.end(), [&](const auto& entry) {
      return entry.first == part.substr(0, equals);
    });
    if (known == weights.end() || known->second || !weight) return std::nullopt;
    known->second = weight;
  }
  for (const auto& [name, value] : weights) {
    if (!value) return std::nullopt;
  }
  const GpuScoreWeights read{*weights[0].second, *weights[1].second, *weights[2].second};
  if (read == GpuScoreWeights{0, 0, 0}) return std::nullopt;
  return read;
}

std::string GpuPolicyProblem(std::string_view word) {
  if (IsAmong(kGpuPolicies, word)) return "";
  return fmt::format(
      "\"{}\" is not a policy (want {})", word.substr(0, kMaxShown), Choice(kGpuPolicies));
}

std::string GpuNodePolicyProblem(std::string_view value) {
  if (value.empty() || IsAmong(kGpuNodePolicies, value)) return "";
  return fmt::format(
      "\"{}\" is not a policy (want {})", value.substr(0, kMaxShown), Choice(kGpuNodePolicies));
}

std::string NumaPolicyProblem(std::string_view value) {
  if (ParseNumaPolicy(value)) return "";
  std::array<std::string_view, kAllNumaPolicies.size()> words;
  std::transform(
      kAllNumaPolicies.begin(), kAllNumaPolicies.end(), words.begin(), [](NumaPolicy policy) {
        return std::string_view(ToString(policy));
      });
  return fmt::format("unknown value \"{}\" (want {})", value.substr(0, kMaxShown), Choice(words));
}

std::string AnnotationProblem(std::string_view key, std::string_view value) {
  const ValueRule* rule = FindRule(key);
  return rule == nullptr ? "" : rule->problem(value);
}

std::string LabelProblem(std::string_view key, std::string_view value) {
  const ValueRule* rule = FindRule(key);
  return rule == nullptr || !rule->label_too ? "" : rule->problem(value);
}

}  // namespace strata::objects
