#include "controllers/cluster_objects.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "controllers/object_meta.h"
#include "json/access.h"
#include "json/dump.h"
#include "objects/load.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

std::optional<objects::ObjectSet> Read(const json& object) {
  const objects::Source source{.name = "object", .text = DumpJson(object)};
  Result<objects::ObjectSet> read = objects::ParseObjects({&source, 1});
  if (!read) return std::nullopt;
  return std::move(*read);
}

}  // namespace

objects::Node NodeFrom(const json& node) {
  objects::Node made;
  made.meta.kind = "Node";
  made.meta.name = TextAt(node, {"metadata", "name"});
  made.meta.uid = TextAt(node, {"metadata", "uid"});
  for (const auto& [key, value] : ObjectAt(node, {"metadata", "labels"}).items()) {
    if (value.is_string()) made.meta.labels[key] = value.get<std::string>();
  }
  for (const json& address : ListAt(node, {"status", "addresses"})) {
    if (TextAt(address, {"type"}) == "InternalIP") {
      made.internal_ips.push_back(TextAt(address, {"address"}));
    }
  }
  return made;
}

std::optional<objects::HyperNode> HyperNodeFrom(const json& hypernode) {
  std::optional<objects::ObjectSet> read = Read(hypernode);
  if (!read || read->hypernodes.size() != 1) return std::nullopt;
  return std::move(read->hypernodes.front());
}

std::optional<objects::PodDisruptionBudget> BudgetFrom(const json& budget) {
  std::optional<objects::ObjectSet> read = Read(budget);
  if (!read || read->disruption_budgets.size() != 1) return std::nullopt;
  return std::move(read->disruption_budgets.front());
}

std::optional<objects::Secret> SecretFrom(const json& secret) {
  std::optional<objects::ObjectSet> read = Read(secret);
  if (!read || read->secrets.size() != 1) return std::nullopt;
  return std::move(read->secrets.front());
}

}  // namespace strata::controllers
