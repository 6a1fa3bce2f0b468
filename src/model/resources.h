#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace strata {

// An exact amount of one resource, in the unit of that resource.
using Amount = std::int64_t;

enum class ResourceUnit : std::uint8_t {
  kMilli,  // cpu and every scalar (a GPU is 1000)
  kByte,   // memory, ephemeral-storage, hugepages-*
  kOne,    // pods, count/pods
};

// The names of quotas (`limits.memory`, `count/pods`) have the unit of what they limit.
[[nodiscard]] ResourceUnit UnitOf(std::string_view resource_name);

inline constexpr ResourceId kCpu{0};
inline constexpr ResourceId kMemory{1};
inline constexpr ResourceId kPods{2};

// A resource is absent when no node has it: pods, PodGroups, queues and quotas may name thousands
// of those. Their ids begin here, so that what is kept for each node has no place for them.
inline constexpr std::size_t kFirstAbsent = 1U << 16U;
[[nodiscard]] constexpr bool IsAbsent(ResourceId id) {
  return id.index() >= kFirstAbsent;
}

// Names of resources to ids. Those that nodes have, or the configuration names, have dense ids from
// 0 for good; cpu, memory and pods are always there. Ids of absent ones are reused.
class ResourceNames {
 public:
  ResourceNames();

  // For a name of a node, or of the configuration: never absent.
  ResourceId Intern(std::string_view name);
  // For a name of anything else: absent unless it is interned.
  ResourceId InternAsked(std::string_view name);
  [[nodiscard]] std::optional<ResourceId> Find(std::string_view name) const;
  [[nodiscard]] const std::string& name(ResourceId id) const {
    return IsAbsent(id) ? absent_names_[id.index() - kFirstAbsent] : names_[id.index()];
  }
  // How many are not absent: their ids are below this.
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  // Every id that is not absent, ascending by name: sentences list resources in this order.
  [[nodiscard]] std::vector<ResourceId> ByName() const;

  [[nodiscard]] std::size_t absent_count() const {
    return absent_names_.size() - free_absent_.size();
  }
  // Moves when a name that was absent is interned: what holds its former id must be read again.
  [[nodiscard]] std::uint64_t found_version() const { return found_version_; }
  // Forgets the absent names whose ids are not in `used`.
  void KeepAbsent(const std::set<ResourceId>& used);

 private:
  std::vector<std::string> names_;         // tens at most: looked up by scan
  std::vector<std::string> absent_names_;  // by id - kFirstAbsent; "" for a free id
  std::map<std::string, ResourceId, std::less<>> absent_;
  std::vector<ResourceId> free_absent_;
  std::uint64_t found_version_ = 0;
};

// An amount for each resource; those that were never set are 0.
class Resources {
 public:
  [[nodiscard]] Amount Get(ResourceId id) const {
    if (id.index() < amounts_.size()) return amounts_[id.index()];
    return absent_.empty() ? 0 : GetAbsent(id);
  }
  void Set(ResourceId id, Amount amount);
  void Add(const Resources& other);
  void Sub(const Resources& other);
  // Adds (+1) or subtracts (-1).
  void AddSigned(const Resources& other, int sign) { sign > 0 ? Add(other) : Sub(other); }
  // Adds `count` times `other`; what exceeds 64 bits stays at the largest amount. For sums that are
  // only compared with what there is. REQUIRES: no amount is negative.
  void AddSaturating(const Resources& other, Amount count = 1);
  // Lifts negative amounts to 0.
  void ClampAtZero();

  // By id, without absent resources.
  [[nodiscard]] std::span<const Amount> amounts() const { return amounts_; }
  // How many leading ids may be non-zero, absent ones aside.
  [[nodiscard]] std::size_t size() const { return amounts_.size(); }
  // The absent resources, ascending by id; none is 0.
  [[nodiscard]] std::span<const std::pair<ResourceId, Amount>> absent() const { return absent_; }
  // True when nothing but pods is asked for: what Kubernetes calls BestEffort.
  [[nodiscard]] bool IsBestEffort() const;
  // Every amount asked for is at most that of `row` (a resource beyond the row counts as 0 there).
  // What is not asked for may even be overdrawn.
  [[nodiscard]] bool FitsIn(std::span<const Amount> row) const;

  auto operator<=>(const Resources&) const = default;

 private:
  std::vector<Amount> amounts_;  // no trailing zero, so that equal resources compare equal
  std::vector<std::pair<ResourceId, Amount>> absent_;
  void Trim();
  [[nodiscard]] Amount GetAbsent(ResourceId id) const;
  void SetAbsent(ResourceId id, Amount amount);
  // Replaces each absent amount by combine(it, that of `other`).
  template <typename Combine>
  void MergeAbsent(const Resources& other, const Combine& combine);
};

// The resources of which `resources` has an amount, ascending by name, for sentences. Only the
// first few absent ones are among them: one pod may name thousands.
[[nodiscard]] std::vector<ResourceId> NamedIn(const ResourceNames& names,
                                              const Resources& resources);

// A sum of requests that is exact however many there are: 128 bits for each resource. Absent ones
// do not count.
class WideResources {
 public:
  // Adds (+1) or subtracts (-1).
  void AddSigned(const Resources& part, int sign);
  [[nodiscard]] double Get(ResourceId id) const {
    return id.index() < sums_.size() ? static_cast<double>(sums_[id.index()]) : 0;
  }
  // What exceeds 64 bits is the largest amount.
  [[nodiscard]] Resources Clamped() const;

 private:
  __extension__ using Wide = __int128;
  std::vector<Wide> sums_;
};

// The most of a resource that tasks may use which had their node as they came. Tasks that a cycle
// places fit into what nodes have, so that sums of both stay within 64 bits.
inline constexpr Amount kMaxHeld = Amount{1} << 60U;

// `total` when `out` of it is replaced by `in`; kInvalidArgument when a resource would overflow, or
// leave no room for kMaxHeld.
[[nodiscard]] Result<Resources> ReplaceInTotal(const ResourceNames& names,
                                               const Resources& total,
                                               const Resources& out,
                                               const Resources& in);

// One row of amounts per thing, contiguous. Grows in both directions.
class ResourceTable {
 public:
  [[nodiscard]] std::size_t rows() const { return stride_ == 0 ? 0 : cells_.size() / stride_; }
  [[nodiscard]] std::size_t stride() const { return stride_; }
  // At least `rows` rows of at least `stride` amounts; new cells are 0.
  void Reserve(std::size_t rows, std::size_t stride);
  void Clear(std::size_t rows, std::size_t stride);
  void ClearRow(std::size_t row);

  [[nodiscard]] std::span<const Amount> operator[](std::size_t row) const {
    return {cells_.data() + row * stride_, stride_};
  }
  void Add(std::size_t row, const Resources& delta) {
    Amount* cell = cells_.data() + row * stride_;
    for (const Amount amount : delta.amounts()) *cell++ += amount;
  }
  void Sub(std::size_t row, const Resources& delta) {
    Amount* cell = cells_.data() + row * stride_;
    for (const Amount amount : delta.amounts()) *cell++ -= amount;
  }
  // Adds (+1) or subtracts (-1).
  void AddSigned(std::size_t row, const Resources& delta, int sign) {
    sign > 0 ? Add(row, delta) : Sub(row, delta);
  }
  void AddRow(std::size_t row, std::span<const Amount> delta);

 private:
  std::size_t stride_ = 0;
  std::vector<Amount> cells_;
};

}  // namespace strata
