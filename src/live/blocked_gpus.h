#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// What waiting jobs lack, in GPUs (docs/fragmentation.md).
namespace strata::live {

// kFragmentation: the cluster has as many free GPUs, but not where pods could take them.
// kTopology: it would have a place without its limit of HyperNodes. kQuota: its queue or namespace
// may not have more. kCapacity: the GPUs are in use. kOther: something else than GPUs.
enum class BlockedBy : std::uint8_t { kCapacity, kFragmentation, kTopology, kQuota, kOther };
inline constexpr std::size_t kBlockedKinds = 5;
inline constexpr std::array<std::string_view, kBlockedKinds> kBlockedWords = {
    "capacity", "fragmentation", "topology", "quota", "other"};

// What a job waits for, by the reason of its verdict (docs/reasons.md), the GPUs that it asks for
// and those that are free.
[[nodiscard]] BlockedBy WhyBlocked(std::string_view reason, std::int64_t asked, std::int64_t free);

}  // namespace strata::live
