#include "objects/write_parts.h"

#include <utility>

#include <nlohmann/json.hpp>

namespace strata::objects {
namespace {

using Json = nlohmann::ordered_json;

const char* OperatorWord(SelectorOp op) {
  switch (op) {
    case SelectorOp::kIn:
      return "In";
    case SelectorOp::kNotIn:
      return "NotIn";
    case SelectorOp::kExists:
      return "Exists";
    case SelectorOp::kDoesNotExist:
      return "DoesNotExist";
    case SelectorOp::kGt:
      return "Gt";
    case SelectorOp::kLt:
      return "Lt";
  }
  return "";
}

Json WriteOwner(const OwnerReference& owner) {
  Json json = {{"apiVersion", owner.api_version},
               {"kind", owner.kind},
               {"name", owner.name},
               {"uid", owner.uid}};
  if (owner.controller) {
    json["controller"] = true;
    json["blockOwnerDeletion"] = true;
  }
  return json;
}

Json WriteRequirement(const Requirement& requirement) {
  Json expression = {{"key", requirement.key}, {"operator", OperatorWord(requirement.op)}};
  if (!requirement.values.empty()) expression["values"] = requirement.values;
  return expression;
}

}  // namespace

Json WriteRequirements(const std::vector<Requirement>& requirements) {
  Json json = Json::array();
  for (const Requirement& requirement : requirements) json.push_back(WriteRequirement(requirement));
  return json;
}

Json WriteLabels(const Labels& labels) {
  Json json = Json::object();
  for (const auto& [key, value] : labels) json[key] = value;
  return json;
}

Json WriteLabelSelector(const LabelSelector& selector) {
  Json labels = Json::object();
  Json expressions = Json::array();
  for (const Requirement& requirement : selector.requirements) {
    const bool one_value = requirement.op == SelectorOp::kIn && requirement.values.size() == 1;
    if (one_value && !labels.contains(requirement.key)) {
      labels[requirement.key] = requirement.values.front();
      continue;
    }
    expressions.push_back(WriteRequirement(requirement));
  }
  Json json = Json::object();
  if (!labels.empty()) json["matchLabels"] = std::move(labels);
  if (!expressions.empty()) json["matchExpressions"] = std::move(expressions);
  return json;
}

Json WriteTopology(const NetworkTopology& topology) {
  Json json = {{"mode", topology.mode == TopologyMode::kHard ? "hard" : "soft"}};
  if (topology.highest_tier_allowed) json["highestTierAllowed"] = *topology.highest_tier_allowed;
  if (!topology.highest_tier_name.empty()) json["highestTierName"] = topology.highest_tier_name;
  return json;
}

Json WriteResources(const ResourceList& resources) {
  Json json = Json::object();
  for (const auto& [name, amount] : resources) json[name] = amount.ToString();
  return json;
}

Json WriteMetadata(const Metadata& meta) {
  Json json = {{"name", meta.name}};
  if (!meta.ns.empty()) json["namespace"] = meta.ns;
  if (!meta.labels.empty()) json["labels"] = WriteLabels(meta.labels);
  if (!meta.annotations.empty()) json["annotations"] = WriteLabels(meta.annotations);
  for (const OwnerReference& owner : meta.owners) {
    json["ownerReferences"].push_back(WriteOwner(owner));
  }
  return json;
}

}  // namespace strata::objects
