#include "convert/amounts.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "convert/gpu_dialect.h"
#include "model/gpu_amounts.h"
#include "objects/syntax.h"

namespace strata {
namespace {

constexpr std::string_view kRequestsPrefix = "requests.";

constexpr std::array<std::string_view, 4> kQuotaNames = {
    "count/pods", "limits.cpu", "limits.ephemeral-storage", "limits.memory"};

Result<Amount> ToAmount(std::string_view name, const Quantity& quantity) {
  Result<std::int64_t> amount =
      UnitOf(name) == ResourceUnit::kMilli ? quantity.Milli() : quantity.Value();
  if (amount) return *amount;
  Error error = std::move(amount).error();
  if (std::string problem = objects::TooLarge(name, quantity); !problem.empty()) {
    error.message = std::move(problem);
  }
  return tl::unexpected<Error>(std::move(error).Context(std::string(name)));
}

}  // namespace

std::optional<std::string_view> CountedName(std::string_view name) {
  if (name.starts_with("count/") || name.starts_with("limits.")) return std::nullopt;
  if (name.starts_with(kRequestsPrefix)) name.remove_prefix(kRequestsPrefix.size());
  for (const GpuDialect dialect : kGpuDialects) {
    const GpuNames& gpu = NamesOf(dialect);
    if (name == gpu.memory || name == gpu.percent || name == gpu.cores) return std::nullopt;
  }
  return name;
}

bool IsQuotaName(std::string_view name) {
  return std::find(kQuotaNames.begin(), kQuotaNames.end(), name) != kQuotaNames.end();
}

void CollectNames(const objects::ResourceList& list,
                  std::set<std::string_view, std::less<>>& names) {
  for (const auto& entry : list) {
    if (const auto counted = CountedName(entry.first)) names.insert(*counted);
  }
}

Result<ResourceLimits> ToLimits(const objects::ResourceList& list,
                                ResourceNames& names,
                                ListOf list_of) {
  ResourceLimits limits;
  for (const auto& [name, quantity] : list) {
    const auto counted = CountedName(name);
    if (!counted || (*counted != name && list.contains(*counted))) continue;
    TRY_ASSIGN(const Amount amount, ToAmount(*counted, quantity));
    const bool of_node = list_of == ListOf::kNode;
    limits.insert_or_assign(of_node ? names.Intern(*counted) : names.InternAsked(*counted), amount);
  }
  return limits;
}

Result<Resources> ToResources(const objects::ResourceList& list,
                              ResourceNames& names,
                              ListOf list_of) {
  TRY_ASSIGN(const ResourceLimits limits, ToLimits(list, names, list_of));
  Resources resources;
  for (const auto& [id, amount] : limits) resources.Set(id, amount);
  return resources;
}

Result<ResourceLimits> ToQuotaLimits(const objects::ResourceList& list, ResourceNames& names) {
  ResourceLimits limits;
  for (const auto& [name, quantity] : list) {
    if (!IsQuotaName(name)) continue;
    TRY_ASSIGN(const Amount amount, ToAmount(name, quantity));
    limits.insert_or_assign(names.InternAsked(name), amount);
  }
  return limits;
}

objects::ResourceList CountedInGpus(const objects::ResourceList& list) {
  objects::ResourceList counted = list;
  const auto vgpus = counted.find(kVgpuResource);
  if (vgpus == counted.end()) return counted;
  counted.emplace(kGpuResource, vgpus->second);
  counted.erase(vgpus);
  return counted;
}

Quantity ToQuantity(std::string_view resource_name, Amount amount) {
  return UnitOf(resource_name) == ResourceUnit::kMilli ? Quantity::FromMilli(amount)
                                                       : Quantity::FromValue(amount);
}

}  // namespace strata
