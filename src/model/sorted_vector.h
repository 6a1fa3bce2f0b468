#pragma once

#include <algorithm>
#include <vector>

// A set of few or mostly appended values, kept as an ascending vector.
namespace strata {

template <typename T>
[[nodiscard]] bool HasSorted(const std::vector<T>& values, const T& value) {
  return std::binary_search(values.begin(), values.end(), value);
}

// Does nothing when it is there already.
template <typename T>
void InsertSorted(std::vector<T>& values, const T& value) {
  const auto at = std::lower_bound(values.begin(), values.end(), value);
  if (at == values.end() || *at != value) values.insert(at, value);
}

// Does nothing when it is not there.
template <typename T>
void EraseSorted(std::vector<T>& values, const T& value) {
  const auto at = std::lower_bound(values.begin(), values.end(), value);
  if (at != values.end() && *at == value) values.erase(at);
}

template <typename T>
void SortUnique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace strata
