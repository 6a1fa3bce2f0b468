#include "controllers/garbage_controller.h"

#include <chrono>
#include <optional>

#include <nlohmann/json.hpp>

#include "controllers/object_meta.h"
#include "json/access.h"
#include "json/parse.h"
#include "kube/call.h"

namespace strata::controllers {
namespace {

// When it is not certain that an owner is gone, nor that its watch will tell of its end.
constexpr Duration kAskAgain = std::chrono::seconds(5);
constexpr int kNoSuchOwner = 404;

}  // namespace

Controller::Work GarbageDesk::Decide(const std::string& uid) {
  const std::optional<OwnedSeen> object = graph_.Find(uid);
  if (!object) return {};
  bool unsure = false;
  GarbageView view{.object = *object,
                   .dependents = graph_.DependentsOf(uid),
                   .is_gone = [&](const OwnerSeen& owner, const std::string& ns) {
                     return IsGone(owner, ns, unsure);
                   }};
  Controller::Work work{.plan = CollectGarbage(view), .done = {}};
  if (unsure) work.plan.again = kAskAgain;
  return work;
}

// Owners of kinds that nobody here follows are taken to be there.
bool GarbageDesk::IsGone(const OwnerSeen& owner, const std::string& ns, bool& unsure) {
  if (graph_.Find(owner.uid)) return false;
  for (const Cache::Watched& watched : cache_.watched()) {
    const kube::Resource& resource = watched.spec.resource;
    if (resource.kind != owner.kind || kube::ApiVersion(resource) != owner.api_version) continue;
    const bool namespaced = resource.scope == kube::Resource::Scope::kNamespaced;
    const kube::Reply found =
        client_.Do(kube::GetCall({resource, namespaced ? ns : "", owner.name, ""}));
    // An owner that its watch has not seen yet may go before it does.
    const bool is_gone = found ? TextAt(ParseJsonOrNull(*found), {"metadata", "uid"}) != owner.uid
                               : found.error().http_status == kNoSuchOwner;
    unsure = unsure || !is_gone;
    return is_gone;
  }
  return false;
}

}  // namespace strata::controllers
