#include "controllers/discovery_plan.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "controllers/cluster_objects.h"
#include "controllers/object_meta.h"
#include "json/access.h"
#include "objects/write_hypernode.h"

namespace strata::controllers {
namespace {

using nlohmann::json;

// How an entry that is not asked in this pass is marked: what it found stands.
constexpr const char* kNotAsked = "not asked";

bool IsSame(const discovery::SourceConfig& a, const discovery::SourceConfig& b) {
  return a.source == b.source && a.name == b.name;
}

// What a merge patch must say so that `wanted` holds, whatever is there.
json ChangeTo(const json& wanted) {
  json spec = wanted["spec"];
  if (!spec.contains("tierName")) spec["tierName"] = nullptr;
  return {{"metadata", {{"labels", ObjectAt(wanted, {"metadata", "labels"})}}},
          {"spec", std::move(spec)}};
}

bool Differs(const json& seen, const json& wanted) {
  const std::optional<objects::HyperNode> old = HyperNodeFrom(seen);
  if (!old) return true;
  const json before = objects::WriteHyperNode(*old);
  if (before["spec"] != wanted["spec"]) return true;
  for (const auto& [key, value] : ObjectAt(wanted, {"metadata", "labels"}).items()) {
    if (TextAt(seen, {"metadata", "labels", key}) != value) return true;
  }
  return false;
}

Plan PlanFor(const discovery::Discovery& found, const std::vector<ObjectRef>& existing) {
  std::map<std::string, ObjectRef> ours;
  for (const ObjectRef& object : existing) {
    const std::optional<objects::HyperNode> read = HyperNodeFrom(*object);
    if (!read) continue;
    const discovery::Owner owner = discovery::OwnerOf(*read);
    const auto& owners = found.owners;
    if (std::find(owners.begin(), owners.end(), owner) == owners.end()) continue;
    ours[read->meta.name] = object;
  }
  Plan plan;
  std::vector<Write> creates;
  std::int32_t tier = 0;
  std::vector<Write> changes;
  for (const objects::HyperNode& hypernode : found.hypernodes) {
    const json wanted = objects::WriteHyperNode(hypernode);
    const auto known = ours.find(hypernode.meta.name);
    if (known == ours.end()) {
      if (hypernode.spec.tier != tier) AddStep(plan, std::exchange(creates, {}));
      tier = hypernode.spec.tier;
      creates.push_back(CreateOf(kube::kHyperNodes, wanted, ""));
      continue;
    }
    if (Differs(*known->second, wanted)) {
      changes.push_back(PatchOf(kube::kHyperNodes, *known->second, ChangeTo(wanted)));
    }
    ours.erase(known);
  }
  AddStep(plan, std::move(creates));
  AddStep(plan, std::move(changes));
  std::vector<Write> deletes;
  deletes.reserve(ours.size());
  for (const auto& [name, object] : ours) deletes.push_back(DeleteOf(kube::kHyperNodes, *object));
  AddStep(plan, std::move(deletes));
  return plan;
}

}  // namespace

discovery::DiscoverInput InputFor(const DiscoveryView& view,
                                  const discovery::SourceConfig& source) {
  discovery::DiscoverInput input;
  for (discovery::SourceConfig entry : view.sources) {
    if (!entry.enabled) continue;
    if (!IsSame(entry, source)) entry.error = kNotAsked;
    input.sources.push_back(std::move(entry));
  }
  std::vector<objects::Node>& nodes = input.nodes.emplace();
  for (const ObjectRef& node : view.nodes) nodes.push_back(NodeFrom(*node));
  for (const ObjectRef& object : view.hypernodes) {
    if (std::optional<objects::HyperNode> read = HyperNodeFrom(*object)) {
      input.previous.push_back(std::move(*read));
    }
  }
  input.secrets = view.secrets;
  input.advice = {.fewer = "it is accepted when it arrives for the third time",
                  .none = "if this is correct, remove the source from the configuration",
                  .secret = "create it; it is looked for again soon"};
  return input;
}

DiscoveryOutcome PlanDiscovery(const DiscoveryView& view,
                               const discovery::SourceConfig& source,
                               const ReaderAnswers& answers,
                               discovery::Shrink shrink) {
  const auto replay = [&](Duration /*time*/) { return Replaying(answers); };
  discovery::DiscoverInput input = InputFor(view, source);
  discovery::Discovery found = discovery::Discover(input, replay);
  DiscoveryOutcome outcome;
  outcome.warnings = std::move(found.warnings);
  const auto error = std::find_if(found.errors.begin(),
                                  found.errors.end(),
                                  [](const std::string& text) { return text != kNotAsked; });
  if (error == found.errors.end()) {
    outcome.plan = PlanFor(found, view.hypernodes);
    return outcome;
  }
  outcome.error = *error;
  outcome.event = found.public_errors[static_cast<std::size_t>(error - found.errors.begin())];
  input.shrink = std::max(shrink, discovery::Shrink::kAcceptFewer);
  found = discovery::Discover(input, replay);
  const bool good = std::all_of(found.errors.begin(),
                                found.errors.end(),
                                [](const std::string& text) { return text == kNotAsked; });
  outcome.shrunken = good;
  if (!good || shrink == discovery::Shrink::kRefuse) return outcome;
  outcome.error.clear();
  outcome.event.clear();
  outcome.plan = PlanFor(found, view.hypernodes);
  return outcome;
}

}  // namespace strata::controllers
