#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace strata {

// An exact amount of one resource, in the unit of that resource.
using Amount = std::int64_t;

enum class ResourceUnit : std::uint8_t {
  kMilli,  // cpu and every scalar (a GPU is 1000)
  kByte,   // memory, ephemeral-storage, hugepages-*
  kOne,    // pods
};

[[nodiscard]] ResourceUnit UnitOf(std::string_view resource_name);

inline constexpr ResourceId kCpu{0};
inline constexpr ResourceId kMemory{1};
inline constexpr ResourceId kPods{2};

// Names of resources to dense ids; cpu, memory and pods are always there.
class ResourceNames {
 public:
  ResourceNames();

  ResourceId Intern(std::string_view name);
  [[nodiscard]] std::optional<ResourceId> Find(std::string_view name) const;
  [[nodiscard]] const std::string& name(ResourceId id) const { return names_[id.index()]; }
  [[nodiscard]] std::size_t size() const { return names_.size(); }
  // Every id, ascending by name: sentences list resources in this order, whoever came first.
  [[nodiscard]] std::vector<ResourceId> ByName() const;

 private:
  std::vector<std::string> names_;  // tens at most: looked up by scan
};

// An amount for each resource; those that were never set are 0.
class Resources {
 public:
  [[nodiscard]] Amount Get(ResourceId id) const {
    return id.index() < amounts_.size() ? amounts_[id.index()] : 0;
  }
  void Set(ResourceId id, Amount amount);
  void Add(const Resources& other);
  void Sub(const Resources& other);
  // Lifts negative amounts to 0.
  void ClampAtZero();

  [[nodiscard]] std::span<const Amount> amounts() const { return amounts_; }
  // How many leading ids may be non-zero.
  [[nodiscard]] std::size_t size() const { return amounts_.size(); }
  // True when nothing but pods is asked for: what Kubernetes calls BestEffort.
  [[nodiscard]] bool IsBestEffort() const;
  // Every amount asked for is at most that of `row` (a resource beyond the row counts as 0 there).
  // What is not asked for may even be overdrawn.
  [[nodiscard]] bool FitsIn(std::span<const Amount> row) const;

  auto operator<=>(const Resources&) const = default;

 private:
  std::vector<Amount> amounts_;  // no trailing zero, so that equal resources compare equal
  void Trim();
};

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
  void AddRow(std::size_t row, std::span<const Amount> delta);

 private:
  std::size_t stride_ = 0;
  std::vector<Amount> cells_;
};

}  // namespace strata
