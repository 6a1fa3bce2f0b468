#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/gpu.h"

namespace strata {

// Why a GPU, or a node, does not serve a container: HAMi's reasons, one of Volcano's dialect, and
// one of our own: a GPU that the container wants as a whole is in use.
enum class GpuRefusal : std::uint8_t {
  kNotHealthy,
  kCordoned,
  kTypeMismatch,
  kUuidMismatch,
  kSlotsExhausted,
  kExclusiveConflict,
  kInsufficientMemory,
  kInsufficientCores,
  kCoresExhausted,
  kNoMigPlacement,
  kNumaNotFit,
  kQuotaNotFit,
  kTooFewCards,
  kSameGroup,
  kInUse,
};
// "CardInsufficientMemory".
[[nodiscard]] std::string_view ToString(GpuRefusal refusal);

// Whether a sentence about GPUs that do not serve (GpuFit::reason) has one that something in use is
// the cause of: on other GPUs of the kind, or later, the pod may fit.
[[nodiscard]] bool IsGpuShortage(std::string_view sentence);

// The first reason, in the order of the pod's dialect, why `gpu` cannot serve one container of the
// pod now; none when it can.
[[nodiscard]] std::optional<GpuRefusal> CheckGpu(const GpuRequest& pod,
                                                 const ContainerGpuRequest& container,
                                                 const Gpu& gpu,
                                                 const GpuUsage& usage);

// What the container gets of it. REQUIRES: CheckGpu found nothing.
[[nodiscard]] GpuShare ShareOf(const ContainerGpuRequest& container,
                               const Gpu& gpu,
                               const GpuUsage& usage);

}  // namespace strata
