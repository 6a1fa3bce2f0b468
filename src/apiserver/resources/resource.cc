#include "apiserver/resources/resource.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace strata::apiserver {
namespace {

auto Place(const Resource& row) {
  return std::tie(row.custom, row.group, row.version, row.plural);
}

}  // namespace

ResourceTable::ResourceTable() {
  for (Resource& row : BuiltInResources()) {
    rows_.push_back(std::make_shared<const Resource>(std::move(row)));
  }
  std::stable_sort(rows_.begin(), rows_.end(), [](const ResourceRef& a, const ResourceRef& b) {
    return Place(*a) < Place(*b);
  });
}

ResourceRef ResourceTable::Find(std::string_view group,
                                std::string_view version,
                                std::string_view plural) const {
  for (const ResourceRef& row : rows_) {
    if (row->plural == plural && row->group == group && row->version == version) return row;
  }
  return nullptr;
}

ResourceRef ResourceTable::FindKind(std::string_view group,
                                    std::string_view version,
                                    std::string_view kind) const {
  for (const ResourceRef& row : rows_) {
    if (row->kind == kind && row->group == group && row->version == version) return row;
  }
  return nullptr;
}

void ResourceTable::Put(Resource row) {
  ++revision_;
  auto entry = std::make_shared<const Resource>(std::move(row));
  const auto at = std::lower_bound(
      rows_.begin(), rows_.end(), entry, [](const ResourceRef& a, const ResourceRef& b) {
        return Place(*a) < Place(*b);
      });
  if (at != rows_.end() && Place(**at) == Place(*entry)) {
    *at = std::move(entry);
  } else {
    rows_.insert(at, std::move(entry));
  }
}

void ResourceTable::RemoveGroupResource(std::string_view group, std::string_view plural) {
  ++revision_;
  std::erase_if(rows_, [&](const ResourceRef& row) {
    return row->custom && row->group == group && row->plural == plural;
  });
}

bool ResourceTable::HasGroup(std::string_view group) const {
  return std::any_of(
      rows_.begin(), rows_.end(), [&](const ResourceRef& row) { return row->group == group; });
}

bool ResourceTable::HasGroupVersion(std::string_view group, std::string_view version) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](const ResourceRef& row) {
    return row->group == group && row->version == version;
  });
}

}  // namespace strata::apiserver
