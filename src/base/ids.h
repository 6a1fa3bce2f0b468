#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace strata {

// A typed index into the arrays of one kind of thing. NodeId and JobId never mix; the default is
// "none".
template <typename Tag>
struct Id {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t value = kNone;

  [[nodiscard]] constexpr bool valid() const { return value != kNone; }
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  constexpr auto operator<=>(const Id&) const = default;
};

using NodeId = Id<struct NodeTag>;
using HyperNodeId = Id<struct HyperNodeTag>;
using ChainId = Id<struct ChainTag>;  // nodes of one chain are in exactly the same HyperNodes
using QueueId = Id<struct QueueTag>;
using JobId = Id<struct JobTag>;
using TaskId = Id<struct TaskTag>;
using ClassId =
    Id<struct ClassTag>;  // tasks of one class ask for the same, under the same constraints
using ResourceId = Id<struct ResourceTag>;

// The id of the `index`-th thing.
template <typename IdType>
[[nodiscard]] constexpr IdType IdAt(std::size_t index) {
  return IdType{static_cast<std::uint32_t>(index)};
}

}  // namespace strata
