#include "objects/write_hypernode.h"

#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "objects/write_parts.h"

namespace strata::objects {
namespace {

using Json = nlohmann::ordered_json;

struct SelectorWriter {
  Json operator()(std::monostate /*none*/) const { return nullptr; }
  Json operator()(const HyperNodeMember::Exact& exact) const {
    return {{"exactMatch", {{"name", exact.name}}}};
  }
  Json operator()(const NamePattern& pattern) const {
    return {{"regexMatch", {{"pattern", pattern.text()}}}};
  }
  Json operator()(const LabelSelector& selector) const {
    return {{"labelMatch", WriteLabelSelector(selector)}};
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
