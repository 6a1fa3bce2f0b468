#include "model/resources.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace strata {
namespace {

constexpr Amount kMinAmount = std::numeric_limits<Amount>::min();
constexpr Amount kMaxAmount = std::numeric_limits<Amount>::max();
constexpr std::size_t kMaxAbsentNamed = 16;

}  // namespace

ResourceUnit UnitOf(std::string_view resource_name) {
  if (resource_name == "pods" || resource_name == "count/pods") return ResourceUnit::kOne;
  for (const std::string_view prefix : {"requests.", "limits."}) {
    if (resource_name.starts_with(prefix)) resource_name.remove_prefix(prefix.size());
  }
  if (resource_name == "memory" || resource_name == "ephemeral-storage" ||
      resource_name.starts_with("hugepages-")) {
    return ResourceUnit::kByte;
  }
  return ResourceUnit::kMilli;
}

ResourceNames::ResourceNames() : names_{"cpu", "memory", "pods"} {}

ResourceId ResourceNames::Intern(std::string_view name) {
  const auto known = Find(name);
  if (known && !IsAbsent(*known)) return *known;
  if (known) {
    absent_.erase(absent_.find(name));
    ++found_version_;
  }
  CHECK(names_.size() < kFirstAbsent);
  names_.emplace_back(name);
  return IdAt<ResourceId>(names_.size() - 1);
}

ResourceId ResourceNames::InternAsked(std::string_view name) {
  if (const auto known = Find(name)) return *known;
  auto id = IdAt<ResourceId>(kFirstAbsent + absent_names_.size());
  if (free_absent_.empty()) {
    absent_names_.emplace_back(name);
  } else {
    id = free_absent_.back();
    free_absent_.pop_back();
    absent_names_[id.index() - kFirstAbsent] = name;
  }
  absent_.emplace(name, id);
  return id;
}

std::optional<ResourceId> ResourceNames::Find(std::string_view name) const {
  const auto it = std::find(names_.begin(), names_.end(), name);
  if (it != names_.end()) {
    return IdAt<ResourceId>(static_cast<std::size_t>(it - names_.begin()));
  }
  const auto absent = absent_.find(name);
  return absent == absent_.end() ? std::nullopt : std::optional(absent->second);
}

void ResourceNames::KeepAbsent(const std::set<ResourceId>& used) {
  if (used.empty()) {
    absent_.clear();
    absent_names_ = {};
    free_absent_ = {};
    return;
  }
  for (std::size_t i = 0; i < absent_names_.size(); ++i) {
    const auto id = IdAt<ResourceId>(kFirstAbsent + i);
    if (absent_names_[i].empty() || used.contains(id)) continue;
    const auto it = absent_.find(absent_names_[i]);
    if (it != absent_.end() && it->second == id) absent_.erase(it);
    absent_names_[i] = std::string();
    free_absent_.push_back(id);
  }
}

std::vector<ResourceId> ResourceNames::ByName() const {
  std::vector<ResourceId> ids;
  for (std::size_t i = 0; i < names_.size(); ++i) ids.push_back(IdAt<ResourceId>(i));
  std::sort(ids.begin(), ids.end(), [&](ResourceId a, ResourceId b) { return name(a) < name(b); });
  return ids;
}

void Resources::Set(ResourceId id, Amount amount) {
  if (IsAbsent(id)) return SetAbsent(id, amount);
  if (id.index() >= amounts_.size()) amounts_.resize(id.index() + 1, 0);
  amounts_[id.index()] = amount;
  Trim();
}

void Resources::Add(const Resources& other) {
  if (other.amounts_.size() > amounts_.size()) amounts_.resize(other.amounts_.size(), 0);
  for (std::size_t i = 0; i < other.amounts_.size(); ++i) amounts_[i] += other.amounts_[i];
  Trim();
  MergeAbsent(other, [](Amount had, Amount more) { return had + more; });
}

void Resources::Sub(const Resources& other) {
  if (other.amounts_.size() > amounts_.size()) amounts_.resize(other.amounts_.size(), 0);
  for (std::size_t i = 0; i < other.amounts_.size(); ++i) amounts_[i] -= other.amounts_[i];
  Trim();
  MergeAbsent(other, [](Amount had, Amount less) { return had - less; });
}

void Resources::AddSaturating(const Resources& other, Amount count) {
  const auto add = [&](Amount had, Amount more) {
    const bool overflows =
        __builtin_mul_overflow(more, count, &more) || __builtin_add_overflow(had, more, &had);
    return overflows ? kMaxAmount : had;
  };
  if (other.amounts_.size() > amounts_.size()) amounts_.resize(other.amounts_.size(), 0);
  for (std::size_t i = 0; i < other.amounts_.size(); ++i) {
    amounts_[i] = add(amounts_[i], other.amounts_[i]);
  }
  Trim();
  MergeAbsent(other, add);
}

void Resources::ClampAtZero() {
  for (Amount& amount : amounts_) amount = std::max<Amount>(amount, 0);
  Trim();
  std::erase_if(absent_, [](const auto& entry) { return entry.second < 0; });
}

void Resources::Trim() {
  while (!amounts_.empty() && amounts_.back() == 0) amounts_.pop_back();
}

Amount Resources::GetAbsent(ResourceId id) const {
  const auto it = std::lower_bound(absent_.begin(), absent_.end(), std::pair(id, kMinAmount));
  return it != absent_.end() && it->first == id ? it->second : 0;
}

void Resources::SetAbsent(ResourceId id, Amount amount) {
  const auto it = std::lower_bound(absent_.begin(), absent_.end(), std::pair(id, kMinAmount));
  const bool known = it != absent_.end() && it->first == id;
  if (known && amount == 0) {
    absent_.erase(it);
  } else if (known) {
    it->second = amount;
  } else if (amount != 0) {
    absent_.emplace(it, id, amount);
  }
}

template <typename Combine>
void Resources::MergeAbsent(const Resources& other, const Combine& combine) {
  if (other.absent_.empty()) return;
  std::vector<std::pair<ResourceId, Amount>> merged;
  merged.reserve(absent_.size() + other.absent_.size());
  auto mine = absent_.begin();
  for (const auto& [id, amount] : other.absent_) {
    for (; mine != absent_.end() && mine->first < id; ++mine) merged.push_back(*mine);
    const bool both = mine != absent_.end() && mine->first == id;
    const Amount combined = combine(both ? (mine++)->second : 0, amount);
    if (combined != 0) merged.emplace_back(id, combined);
  }
  merged.insert(merged.end(), mine, absent_.end());
  absent_ = std::move(merged);
}

bool Resources::IsBestEffort() const {
  if (!absent_.empty()) return false;
  for (std::size_t i = 0; i < amounts_.size(); ++i) {
    if (i != kPods.index() && amounts_[i] > 0) return false;
  }
  return true;
}

bool Resources::FitsIn(std::span<const Amount> row) const {
  const Amount* has = row.data();
  const Amount* const end = has + row.size();
  for (const Amount need : amounts_) {
    const Amount left = has < end ? *has++ : 0;
    if (need > left && need > 0) return false;
  }
  return absent_.empty();
}

std::vector<ResourceId> NamedIn(const ResourceNames& names, const Resources& resources) {
  const auto by_name = [&](ResourceId a, ResourceId b) { return names.name(a) < names.name(b); };
  std::vector<ResourceId> ids;
  for (const auto& [id, amount] : resources.absent()) ids.push_back(id);
  std::sort(ids.begin(), ids.end(), by_name);
  ids.resize(std::min(ids.size(), kMaxAbsentNamed));
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const auto id = IdAt<ResourceId>(i);
    if (resources.Get(id) != 0) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(), by_name);
  return ids;
}

void WideResources::AddSigned(const Resources& part, int sign) {
  const std::span<const Amount> amounts = part.amounts();
  if (amounts.size() > sums_.size()) sums_.resize(amounts.size(), 0);
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    sign > 0 ? sums_[i] += amounts[i] : sums_[i] -= amounts[i];
  }
}

Resources WideResources::Clamped() const {
  Resources clamped;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    clamped.Set(IdAt<ResourceId>(i), static_cast<Amount>(std::min(sums_[i], Wide{kMaxAmount})));
  }
  return clamped;
}

Result<Resources> ReplaceInTotal(const ResourceNames& names,
                                 const Resources& total,
                                 const Resources& out,
                                 const Resources& in) {
  Resources next = total;
  next.Sub(out);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto id = IdAt<ResourceId>(i);
    Amount sum = 0;
    if (__builtin_add_overflow(next.Get(id), in.Get(id), &sum) || sum > kMaxAmount - kMaxHeld) {
      return Fail(Code::kInvalidArgument,
                  "the total of " + names.name(id) + " in the cluster overflows 64 bits");
    }
  }
  next.Add(in);
  return next;
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
