#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "kube/call.h"

// How manifests are applied to a cluster: in which order, and by which calls. Pure.
namespace strata {

// One object of a manifest file.
struct Manifest {
  std::string origin;  // the file
  std::string api_version;
  std::string kind;
  std::string ns;    // "" if it names none
  std::string name;  // "" if it has generateName
  std::string body;  // JSON
  // A pod on a node, or an object with a resourceVersion: a server has accepted it before.
  bool accepted = false;
};

// The objects of one document; the items of a List, if it is one. What is not an object is left
// out.
[[nodiscard]] std::vector<Manifest> ManifestsOf(const std::string& origin,
                                                const nlohmann::json& document);

// "jobs.yaml: Job default/train", for messages.
[[nodiscard]] std::string NameOf(const Manifest& manifest);

// Manifests that can be applied at the same time, once those of the waves before are applied.
struct ApplyWave {
  std::vector<const Manifest*> manifests;
  bool one_by_one = false;     // in their order: a queue may be the parent of the next
  bool defines_kinds = false;  // the kinds that are served differ afterwards
};

// Definitions first, then namespaces and priorities, queues, everything that jobs refer to,
// PodGroups, jobs, pods. The waves point into `manifests`.
[[nodiscard]] std::vector<ApplyWave> ApplyOrder(const std::vector<Manifest>& manifests);

// The namespaces that the objects are in, without "".
[[nodiscard]] std::set<std::string> NamespacesOf(const std::vector<Manifest>& manifests);

// Where the API server keeps the objects of a kind.
struct ServedKind {
  std::string group;
  std::string version;
  std::string plural;
  bool namespaced = true;

  bool operator==(const ServedKind&) const = default;
};

// By kind, from the discovery document of `api_version` ("v1", "batch/v1"). Subresources are left
// out; a document that cannot be read has no kinds.
[[nodiscard]] std::map<std::string, ServedKind> ReadServedKinds(const std::string& api_version,
                                                                std::string_view document);

// A server-side apply that takes over conflicting fields; a create for an object with generateName.
// An object without a namespace goes to "default". The server is asked for `validation`, but for
// Warn of an accepted manifest.
enum class FieldValidation : std::uint8_t { kStrict, kWarn };
[[nodiscard]] kube::Call ApplyCall(const ServedKind& served,
                                   const Manifest& manifest,
                                   FieldValidation validation);

}  // namespace strata
