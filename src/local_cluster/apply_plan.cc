#include "local_cluster/apply_plan.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"
#include "kube/resource.h"

namespace strata {
namespace {

using Json = nlohmann::json;

constexpr const char* kFieldManager = "strata-up";

void AddManifests(const std::string& origin, const Json& body, std::vector<Manifest>& out) {
  if (!body.is_object()) return;
  const std::string kind = TextAt(body, {"kind"});
  const auto items = body.find("items");
  if (kind.ends_with("List") && items != body.end() && items->is_array()) {
    for (const Json& item : *items) AddManifests(origin, item, out);
    return;
  }
  Manifest manifest{.origin = origin,
                    .api_version = TextAt(body, {"apiVersion"}),
                    .kind = kind,
                    .ns = TextAt(body, {"metadata", "namespace"}),
                    .name = TextAt(body, {"metadata", "name"}),
                    .body = DumpJson(body)};
  manifest.accepted = !TextAt(body, {"metadata", "resourceVersion"}).empty() ||
                      (kind == "Pod" && !TextAt(body, {"spec", "nodeName"}).empty());
  out.push_back(std::move(manifest));
}

constexpr int kDefinitionRank = 0;
constexpr int kQueueRank = 2;
constexpr int kOtherRank = 3;

int RankOf(std::string_view kind) {
  constexpr std::array<std::pair<std::string_view, int>, 7> kRanks = {{
      {"CustomResourceDefinition", kDefinitionRank},
      {"Namespace", 1},
      {"PriorityClass", 1},
      {"Queue", kQueueRank},
      {"PodGroup", 4},
      {"Job", 5},
      {"Pod", 6},
  }};
  for (const auto& [ranked, rank] : kRanks) {
    if (ranked == kind) return rank;
  }
  return kOtherRank;
}

}  // namespace

std::vector<Manifest> ManifestsOf(const std::string& origin, const Json& document) {
  std::vector<Manifest> manifests;
  AddManifests(origin, document, manifests);
  return manifests;
}

std::string NameOf(const Manifest& manifest) {
  return fmt::format("{}: {} {}{}{}",
                     manifest.origin,
                     manifest.kind,
                     manifest.ns,
                     manifest.ns.empty() ? "" : "/",
                     manifest.name);
}

std::vector<ApplyWave> ApplyOrder(const std::vector<Manifest>& manifests) {
  std::map<int, ApplyWave> by_rank;
  for (const Manifest& manifest : manifests) {
    by_rank[RankOf(manifest.kind)].manifests.push_back(&manifest);
  }
  std::vector<ApplyWave> waves;
  for (auto& [rank, wave] : by_rank) {
    wave.one_by_one = rank == kQueueRank;
    wave.defines_kinds = rank == kDefinitionRank;
    waves.push_back(std::move(wave));
  }
  return waves;
}

std::set<std::string> NamespacesOf(const std::vector<Manifest>& manifests) {
  std::set<std::string> namespaces;
  for (const Manifest& manifest : manifests) namespaces.insert(manifest.ns);
  namespaces.erase("");
  return namespaces;
}

std::map<std::string, ServedKind> ReadServedKinds(const std::string& api_version,
                                                  std::string_view document) {
  const std::size_t slash = api_version.find('/');
  const bool core = slash == std::string::npos;
  const Json list = ParseJsonOrNull(document);
  std::map<std::string, ServedKind> kinds;
  for (const Json& resource : ListAt(list, {"resources"})) {
    const std::string plural = TextAt(resource, {"name"});
    if (plural.find('/') != std::string::npos) continue;  // a subresource
    kinds[TextAt(resource, {"kind"})] = {
        .group = core ? "" : api_version.substr(0, slash),
        .version = core ? api_version : api_version.substr(slash + 1),
        .plural = plural,
        .namespaced = BoolAt(resource, {"namespaced"})};
  }
  return kinds;
}

kube::Call ApplyCall(const ServedKind& served,
                     const Manifest& manifest,
                     FieldValidation validation) {
  const std::string ns = manifest.ns.empty() ? "default" : manifest.ns;
  const kube::ResourcePath path{
      {served.group,
       served.version,
       served.plural,
       manifest.kind,
       served.namespaced ? kube::Resource::Scope::kNamespaced : kube::Resource::Scope::kCluster},
      served.namespaced ? ns : "",
      manifest.name,
      ""};
  kube::Call call = manifest.name.empty()
                        ? kube::CreateCall(path, manifest.body)
                        : kube::PatchCall(path,
                                          {.type = kube::PatchType::kApply,
                                           .field_manager = kFieldManager,
                                           .force = kube::PatchOptions::Force::kYes},
                                          manifest.body);
  const bool warn = manifest.accepted || validation == FieldValidation::kWarn;
  if (!call.query.empty()) call.query += '&';
  call.query += warn ? "fieldValidation=Warn" : "fieldValidation=Strict";
  return call;
}

}  // namespace strata
