#include "agent/known_pod.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/quantity.h"
#include "base/timestamp.h"
#include "json/access.h"
#include "json/parse.h"

namespace strata::agent {
namespace {

constexpr std::int64_t kMaxGpusOfContainer = 100'000;

bool DisablesControl(const nlohmann::json& container) {
  for (const nlohmann::json& variable : ListAt(container, {"env"})) {
    if (TextAt(variable, {"name"}) == "CUDA_DISABLE_CONTROL") {
      return TextAt(variable, {"value"}) == "true";
    }
  }
  return false;
}

void ReadContainers(const nlohmann::json& list,
                    KnownContainer::Kind kind,
                    std::string_view resource,
                    std::vector<KnownContainer>& out) {
  for (const nlohmann::json& item : list) {
    KnownContainer container{.name = TextAt(item, {"name"}),
                             .kind = kind,
                             .gpus = 0,
                             .disables_control = DisablesControl(item)};
    const bool stays = TextAt(item, {"restartPolicy"}) == "Always";
    if (kind == KnownContainer::Kind::kInit && stays) {
      container.kind = KnownContainer::Kind::kSidecar;
    }
    if (const nlohmann::json* limit = FindAt(item, {"resources", "limits", resource})) {
      container.gpus = limit->is_string() ? GpusOfLimit(limit->get_ref<const std::string&>())
                                          : IntegerAt(item, {"resources", "limits", resource});
    }
    out.push_back(std::move(container));
  }
}

KnownPod ReadPod(const nlohmann::json& item, std::string_view resource) {
  KnownPod pod;
  pod.uid = TextAt(item, {"metadata", "uid"});
  pod.ns = TextAt(item, {"metadata", "namespace"});
  pod.name = TextAt(item, {"metadata", "name"});
  pod.phase = PhaseOf(TextAt(item, {"status", "phase"}));
  if (const auto created = ParseTimestamp(TextAt(item, {"metadata", "creationTimestamp"}))) {
    pod.created = *created;
  }
  for (const auto& [key, value] : ObjectAt(item, {"metadata", "annotations"}).items()) {
    if (value.is_string()) pod.annotations.emplace(key, value.get<std::string>());
  }
  using Kind = KnownContainer::Kind;
  ReadContainers(ListAt(item, {"spec", "initContainers"}), Kind::kInit, resource, pod.containers);
  ReadContainers(ListAt(item, {"spec", "containers"}), Kind::kApp, resource, pod.containers);
  return pod;
}

bool IsNamed(const KnownPod& pod) {
  return !pod.uid.empty() && !pod.ns.empty() && !pod.name.empty();
}

}  // namespace

objects::PodPhase PhaseOf(std::string_view text) {
  using objects::PodPhase;
  if (text.empty() || text == "Pending") return PodPhase::kPending;
  if (text == "Running") return PodPhase::kRunning;
  if (text == "Succeeded") return PodPhase::kSucceeded;
  if (text == "Failed") return PodPhase::kFailed;
  return PodPhase::kUnknown;
}

std::int64_t GpusOfLimit(std::string_view quantity) {
  const auto parsed = Quantity::Parse(quantity);
  if (!parsed || !parsed->IsInteger() || parsed->IsNegative()) return 0;
  const auto value = parsed->Value();
  return value && *value <= kMaxGpusOfContainer ? *value : 0;
}

Result<std::vector<KnownPod>> ReadPodList(std::string_view text, std::string_view resource) {
  TRY_ASSIGN(const nlohmann::json list, ParseJson(text));
  std::vector<KnownPod> pods;
  for (const nlohmann::json& item : ListAt(list, {"items"})) {
    KnownPod pod = ReadPod(item, resource);
    if (IsNamed(pod)) pods.push_back(std::move(pod));
  }
  return pods;
}

Result<KnownPod> ReadKnownPod(std::string_view text, std::string_view resource) {
  TRY_ASSIGN(const nlohmann::json item, ParseJson(text));
  KnownPod pod = ReadPod(item, resource);
  if (!IsNamed(pod)) return Fail(Code::kInvalidArgument, "not a pod with uid, namespace and name");
  return pod;
}

}  // namespace strata::agent
