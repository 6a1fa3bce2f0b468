#pragma once

#include <functional>

#include "model/cluster_state.h"
#include "page/cluster_columns.h"

namespace strata::page {

// The position of a job.
using PlaceOf = std::function<Place(JobId)>;

// How many cells the node has: the GPUs that it registers, else those that are counted.
[[nodiscard]] std::size_t CountCells(const ClusterState& state, NodeId node);

// The part of a GPU that a pod has: of its memory or its cores, whichever is more, in hundredths.
[[nodiscard]] double PartOf(const GpuUsage& usage, const Gpu& gpu);

// Appends the cells of the GPUs of a node.
void AppendCells(const ClusterState& state, NodeId node, const PlaceOf& place_of, GpuColumns& out);

}  // namespace strata::page
