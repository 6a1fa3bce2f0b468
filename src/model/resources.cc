#include "model/resources.h"

#include <algorithm>

#include "base/check.h"

namespace strata {

ResourceUnit UnitOf(std::string_view resource_name) {
  if (resource_name == "pods") return ResourceUnit::kOne;
  if (resource_name == "memory" || resource_name == "ephemeral-storage" ||
      resource_name.starts_with("hugepages-")) {
    return ResourceUnit::kByte;
  }
  return ResourceUnit::kMilli;
}

ResourceNames::ResourceNames() : names_{"cpu", "memory", "pods"} {}

ResourceId ResourceNames::Intern(std::string_view name) {
  if (const auto id = Find(name)) return *id;
  names_.emplace_back(name);
  return IdAt<ResourceId>(names_.size() - 1);
}

std::optional<ResourceId> ResourceNames::Find(std::string_view name) const {
  const auto it = std::find(names_.begin(), names_.end(), name);
  if (it == names_.end()) return std::nullopt;
  return IdAt<ResourceId>(static_cast<std::size_t>(it - names_.begin()));
}

std::vector<ResourceId> ResourceNames::ByName() const {
  std::vector<ResourceId> ids;
  for (std::size_t i = 0; i < names_.size(); ++i) ids.push_back(IdAt<ResourceId>(i));
  std::sort(ids.begin(), ids.end(), [&](ResourceId a, ResourceId b) { return name(a) < name(b); });
  return ids;
}

void Resources::Set(ResourceId id, Amount amount) {
  if (id.index() >= amounts_.size()) amounts_.resize(id.index() + 1, 0);
  amounts_[id.index()] = amount;
  Trim();
}

void Resources::Add(const Resources& other) {
  if (other.amounts_.size() > amounts_.size()) amounts_.resize(other.amounts_.size(), 0);
  for (std::size_t i = 0; i < other.amounts_.size(); ++i) amounts_[i] += other.amounts_[i];
  Trim();
}

void Resources::Sub(const Resources& other) {
  if (other.amounts_.size() > amounts_.size()) amounts_.resize(other.amounts_.size(), 0);
  for (std::size_t i = 0; i < other.amounts_.size(); ++i) amounts_[i] -= other.amounts_[i];
  Trim();
}

void Resources::ClampAtZero() {
  for (Amount& amount : amounts_) amount = std::max<Amount>(amount, 0);
  Trim();
}

void Resources::Trim() {
  while (!amounts_.empty() && amounts_.back() == 0) amounts_.pop_back();
}

bool Resources::IsBestEffort() const {
  for (std::size_t i = 0; i < amounts_.size(); ++i) {
    if (i != kPods.index() && amounts_[i] > 0) return false;
  }
  return true;
}

bool Resources::FitsIn(std::span<const Amount> row) const {
  for (std::size_t i = 0; i < amounts_.size(); ++i) {
    if (amounts_[i] > 0 && amounts_[i] > (i < row.size() ? row[i] : 0)) return false;
  }
  return true;
}

void ResourceTable::Reserve(std::size_t rows, std::size_t stride) {
  const std::size_t old_rows = this->rows();
  rows = std::max(rows, old_rows);
  if (stride <= stride_) {
    cells_.resize(rows * stride_, 0);
    return;
  }
  std::vector<Amount> cells(rows * stride, 0);
  for (std::size_t row = 0; row < old_rows; ++row) {
    std::copy_n(cells_.begin() + static_cast<std::ptrdiff_t>(row * stride_),
                stride_,
                cells.begin() + static_cast<std::ptrdiff_t>(row * stride));
  }
  cells_ = std::move(cells);
  stride_ = stride;
}

void ResourceTable::Clear(std::size_t rows, std::size_t stride) {
  stride_ = stride;
  cells_.assign(rows * stride, 0);
}

void ResourceTable::ClearRow(std::size_t row) {
  std::fill_n(cells_.begin() + static_cast<std::ptrdiff_t>(row * stride_), stride_, 0);
}

void ResourceTable::AddRow(std::size_t row, std::span<const Amount> delta) {
  CHECK(delta.size() <= stride_);
  Amount* cell = cells_.data() + row * stride_;
  for (const Amount amount : delta) *cell++ += amount;
}

}  // namespace strata
