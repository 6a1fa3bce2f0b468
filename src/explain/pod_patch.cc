#include "explain/pod_patch.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "json/dump.h"
#include "objects/write_parts.h"

namespace strata {
namespace {

constexpr std::string_view kRequiredPath =
    "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";

// The whole list: its order in the manifest is not known any more.
PatchStep WriteList(std::string path, const std::vector<Requirement>& requirements) {
  return {PatchStep::Op::kAdd, std::move(path), DumpJson(objects::WriteRequirements(requirements))};
}

}  // namespace

std::vector<PatchStep> ToleratingSteps(const Taint& taint, const objects::PodSpec& spec) {
  nlohmann::ordered_json toleration = {{"key", taint.key}, {"operator", "Equal"}};
  if (!taint.value.empty()) toleration["value"] = taint.value;
  toleration["effect"] = taint.effect == TaintEffect::kNoExecute ? "NoExecute" : "NoSchedule";
  const std::string text = DumpJson(toleration);
  if (spec.tolerations.empty()) return {{PatchStep::Op::kAdd, "/tolerations", "[" + text + "]"}};
  return {{PatchStep::Op::kAdd, "/tolerations/-", text}};
}

std::vector<PatchStep> WithoutSelectorSteps(std::string_view key, const objects::PodSpec& spec) {
  if (!spec.node_selector.contains(std::string(key))) return {};
  return {{PatchStep::Op::kRemove, "/nodeSelector/" + PointerPart(key), ""}};
}

std::vector<PatchStep> WithoutRequirementSteps(const Requirement& requirement,
                                               const objects::PodSpec& spec) {
  if (!spec.node_affinity.required) return {};
  const std::vector<NodeSelectorTerm>& terms = *spec.node_affinity.required;
  std::vector<PatchStep> steps;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    NodeSelectorTerm left = terms[i];
    const std::size_t labels = std::erase(left.labels, requirement);
    const std::size_t fields = std::erase(left.fields, requirement);
    if (labels + fields == 0) continue;
    // Without its last requirement a term would match nothing.
    if (left.labels.empty() && left.fields.empty()) {
      return {{PatchStep::Op::kRemove, std::string(kRequiredPath), ""}};
    }
    const std::string term = fmt::format("{}/nodeSelectorTerms/{}", kRequiredPath, i);
    if (labels > 0) steps.push_back(WriteList(term + "/matchExpressions", left.labels));
    if (fields > 0) steps.push_back(WriteList(term + "/matchFields", left.fields));
  }
  return steps;
}

}  // namespace strata
