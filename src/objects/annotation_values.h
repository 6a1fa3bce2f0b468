#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "model/gpu.h"
#include "model/numa.h"

// The values of annotations that Strata reads: how each is written, and what is wrong with one that
// is not written so. Readers of these annotations use the functions here, so that what is judged is
// what is read. Pure.
namespace strata::objects {

inline constexpr std::string_view kGpuPolicyKey = "hami.io/gpu-scheduler-policy";
inline constexpr std::string_view kGpuNodePolicyKey = "hami.io/node-scheduler-policy";
inline constexpr std::string_view kGpuWeightsKey = "hami.io/device-scoring-weights";
inline constexpr std::string_view kGpuNumaBindKey = "nvidia.com/numa-bind";
inline constexpr std::string_view kVgpuGroupPolicyKey = "volcano.sh/vgpu-podgroup-policy";
inline constexpr std::string_view kTaskPriorityKey = "volcano.sh/task-priority";
inline constexpr std::string_view kEvictKey = "strata.sh/evict";

// The words that Go's strconv.ParseBool accepts; none for any other.
[[nodiscard]] std::optional<bool> ParseFlag(std::string_view text);
[[nodiscard]] std::optional<std::int32_t> ParseInt32(std::string_view text);
// A duration above 0. kInvalidArgument quotes `text`.
[[nodiscard]] Result<Duration> ParseWaitingTime(std::string_view text);
// "" is NumaPolicy::kNone.
[[nodiscard]] std::optional<NumaPolicy> ParseNumaPolicy(std::string_view text);
// "slot=1,core=2,memory=0", in any order, not all 0.
[[nodiscard]] std::optional<GpuScoreWeights> ParseScoreWeights(std::string_view text);

// What is wrong with one word of kGpuPolicyKey, or with the value of kGpuNodePolicyKey: "" or
// "\"fastest\" is not a policy (want ...)".
[[nodiscard]] std::string GpuPolicyProblem(std::string_view word);
[[nodiscard]] std::string GpuNodePolicyProblem(std::string_view value);
// "unknown value "x" (want none, best-effort, ...)".
[[nodiscard]] std::string NumaPolicyProblem(std::string_view value);

// What is wrong with the value of an annotation, or of a label, of any object or pod template: one
// clause with the value and with what is accepted; "" when nothing is, or when Strata does not read
// the key. Keys whose values need more than their own text (volcano.sh/hierarchy) are judged with
// their kind.
[[nodiscard]] std::string AnnotationProblem(std::string_view key, std::string_view value);
[[nodiscard]] std::string LabelProblem(std::string_view key, std::string_view value);

}  // namespace strata::objects
