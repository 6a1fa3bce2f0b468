#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gpu.h"

// The ids under which GPUs are offered to the kubelet: "<UUID>-<N>", one for each container that
// may have the GPU at the same time. Functions of values.
namespace strata::agent {

[[nodiscard]] std::string DeviceId(std::string_view uuid, std::int32_t share);

// The GPU that an id names, by HAMi's rule: "-<N>" is cut off where the id has exactly six dashes,
// and "::<N>" wherever it is. Ids of MIG instances are left as they are.
[[nodiscard]] std::string_view PhysicalId(std::string_view id);

// The position of that GPU in the node. Also for a UUID that does not look like NVIDIA's. None: the
// node has no such GPU.
[[nodiscard]] std::optional<std::size_t> GpuOfId(const NodeGpus& node, std::string_view id);

struct OfferedDevice {
  std::string id;
  bool healthy = false;
  std::optional<std::int32_t> numa;

  bool operator==(const OfferedDevice&) const = default;
};
enum class OfferNuma : std::uint8_t { kNo, kYes };
// Every id of every GPU, in the order of the node.
[[nodiscard]] std::vector<OfferedDevice> DevicesOf(const NodeGpus& node, OfferNuma numa);

}  // namespace strata::agent
