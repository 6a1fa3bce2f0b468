#include "objects/write_hypernode.h"

#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

namespace strata::objects {
namespace {

using Json = nlohmann::ordered_json;

Json WriteLabels(const Labels& labels) {
  Json json = Json::object();
  for (const auto& [key, value] : labels) json[key] = value;
  return json;
}

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

struct SelectorWriter {
  Json operator()(std::monostate /*none*/) const { return nullptr; }
  Json operator()(const HyperNodeMember::Exact& exact) const {
    return {{"exactMatch", {{"name", exact.name}}}};
  }
  Json operator()(const NamePattern& pattern) const {
    return {{"regexMatch", {{"pattern", pattern.text()}}}};
  }
  Json operator()(const LabelSelector& selector) const {
    Json expressions = Json::array();
    for (const Requirement& requirement : selector.requirements) {
      Json expression = {{"key", requirement.key}, {"operator", OperatorWord(requirement.op)}};
      if (!requirement.values.empty()) expression["values"] = requirement.values;
      expressions.push_back(std::move(expression));
    }
    return {{"labelMatch", {{"matchExpressions", std::move(expressions)}}}};
  }
};

Json WriteMember(const HyperNodeMember& member) {
  Json json = {{"type", member.kind == HyperNodeMember::Kind::kNode ? "Node" : "HyperNode"}};
  Json selector = std::visit(SelectorWriter{}, member.selector);
  if (!selector.is_null()) json["selector"] = std::move(selector);
  return json;
}

}  // namespace

Json WriteHyperNode(const HyperNode& hypernode) {
  Json meta = {{"name", hypernode.meta.name}};
  if (!hypernode.meta.labels.empty()) meta["labels"] = WriteLabels(hypernode.meta.labels);
  if (!hypernode.meta.annotations.empty()) {
    meta["annotations"] = WriteLabels(hypernode.meta.annotations);
  }
  Json spec = {{"tier", hypernode.spec.tier}};
  if (!hypernode.spec.tier_name.empty()) spec["tierName"] = hypernode.spec.tier_name;
  spec["members"] = Json::array();
  for (const HyperNodeMember& member : hypernode.spec.members) {
    spec["members"].push_back(WriteMember(member));
  }
  return {{"apiVersion", "topology.volcano.sh/v1alpha1"},
          {"kind", "HyperNode"},
          {"metadata", std::move(meta)},
          {"spec", std::move(spec)}};
}

}  // namespace strata::objects
