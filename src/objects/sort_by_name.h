#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace strata::objects {

// Sorts objects by (namespace, name), stable. Objects are large, so indexes are sorted and each
// object moves once; a sorted list costs one pass.
template <typename T>
void SortByName(std::vector<T>& list) {
  const auto less = [](const T& a, const T& b) {
    return std::tie(a.meta.ns, a.meta.name) < std::tie(b.meta.ns, b.meta.name);
  };
  if (std::is_sorted(list.begin(), list.end(), less)) return;
  std::vector<std::size_t> order(list.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return less(list[a], list[b]);
  });
  std::vector<T> sorted;
  sorted.reserve(list.size());
  for (const std::size_t i : order) sorted.push_back(std::move(list[i]));
  list = std::move(sorted);
}

}  // namespace strata::objects
