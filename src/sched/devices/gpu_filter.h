#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/gpu.h"

namespace strata {

// Why a GPU, or a node, does not serve a container: HAMi's reasons, and one of Volcano's dialect.
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
};
// "CardInsufficientMemory".
[[nodiscard]] std::string_view ToString(GpuRefusal refusal);

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
