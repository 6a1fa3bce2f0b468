#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "page/cluster_columns.h"

// Columns as the texts of docs/page.md.
namespace strata::page {

// Which picture a text is.
struct Stamp {
  std::int64_t epoch = 0;
  std::int64_t revision = 0;
  Time time{};
};

// The answer of `cluster`: one JSON document.
[[nodiscard]] std::string RenderCluster(const ClusterColumns& columns, const Stamp& stamp);

// What differs between the two, as the data of a `change`; "" when nothing does.
// REQUIRES: HaveSameLayout(before, after), and jobs have kept their positions.
[[nodiscard]] std::string RenderChange(const ClusterColumns& before,
                                       const ClusterColumns& after,
                                       const Stamp& stamp);

}  // namespace strata::page
