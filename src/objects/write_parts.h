#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/labels.h"
#include "model/selector.h"
#include "objects/meta.h"
#include "objects/topology.h"

// Parts of objects as JSON, as manifests have them.
namespace strata::objects {

[[nodiscard]] nlohmann::ordered_json WriteLabels(const Labels& labels);
// [{"key": "zone", "operator": "In", "values": ["a"]}]
[[nodiscard]] nlohmann::ordered_json WriteRequirements(
    const std::vector<Requirement>& requirements);
// {"matchExpressions": [...]}
[[nodiscard]] nlohmann::ordered_json WriteLabelSelector(const LabelSelector& selector);
[[nodiscard]] nlohmann::ordered_json WriteTopology(const NetworkTopology& topology);
// {"cpu": "1500m"}
[[nodiscard]] nlohmann::ordered_json WriteResources(const ResourceList& resources);
// Name, namespace, and what there is of labels, annotations and owners. An owner that is the
// controller is not deleted before this object.
[[nodiscard]] nlohmann::ordered_json WriteMetadata(const Metadata& meta);

}  // namespace strata::objects
