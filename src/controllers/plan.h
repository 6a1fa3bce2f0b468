#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/clock.h"
#include "controllers/pod_seen.h"
#include "kube/event_correlator.h"
#include "kube/resource.h"

// What a controller wants to be written, as values.
namespace strata::controllers {

struct Write {
  enum class Verb : std::uint8_t {
    kCreate,   // one of that name that has `uid` among its owners is as good
    kEnsure,   // the same, and such a one is made to have what the body says
    kReplace,  // the version in the body must be the one that is there
    kPatch,    // JSON merge patch
    kDelete,   // the one with `uid`, or none
  };

  Verb verb = Verb::kCreate;
  kube::Resource resource;
  std::string ns;
  std::string name;
  std::string subresource;
  std::string body;         // JSON
  std::string uid;          // kCreate, kEnsure: the owner's; kDelete: the object's own
  std::string propagation;  // kDelete: "" as the server likes
  bool optional =
      false;  // a rejection is not a failure: unknown kind, forbidden, or another owner's
};

struct Plan {
  // The writes of a step are made at once, a step when all of the previous one have succeeded. What
  // is left of a plan that failed is forgotten: the next plan is made from what is there then.
  std::vector<std::vector<Write>> steps;
  std::vector<kube::EventNote> events;  // told when every write has succeeded
  // The objects whose Events say what the server refused, where it refused something.
  std::vector<kube::ObjectReference> concerned;
  std::optional<Duration> again;  // look again after so long, also when nothing changes
};

// Adds a step unless it is empty.
void AddStep(Plan& plan, std::vector<Write> writes);

// An object as it is to be made, with name and namespace in it.
[[nodiscard]] Write CreateOf(const kube::Resource& resource,
                             const nlohmann::json& object,
                             const std::string& owner_uid);
// An object that was seen.
[[nodiscard]] Write DeleteOf(const kube::Resource& resource, const nlohmann::json& seen);
[[nodiscard]] Write PatchOf(const kube::Resource& resource,
                            const nlohmann::json& seen,
                            const nlohmann::json& patch);
// What a merge patch says so that `old` becomes `value`, without members that only `old` has (null:
// there is none).
[[nodiscard]] nlohmann::json MergePatchTo(const nlohmann::json& value, const nlohmann::json* old);
// A pod that was seen: its deletion, and the mark that no policy is to act on its end.
[[nodiscard]] Write DeleteOf(const PodSeen& pod);
[[nodiscard]] Write MarkOf(const PodSeen& pod);
// The status of an object that was seen, as a whole. Fails when the object has changed since.
[[nodiscard]] Write StatusOf(const kube::Resource& resource,
                             const nlohmann::json& seen,
                             const nlohmann::json& status);

// How Events refer to an object that was seen.
[[nodiscard]] kube::ObjectReference ReferenceTo(const kube::Resource& resource,
                                                const nlohmann::json& seen);

}  // namespace strata::controllers
