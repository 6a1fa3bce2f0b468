#include "webhooks/asked_view.h"

namespace strata::webhooks {

admission::ObjectRef AskedView::GetLatest(const admission::ObjectKey& key) const {
  if (auto seen = seen_.GetLatest(key)) return seen;
  const auto answer = asked_.answers.find(key);
  return answer == asked_.answers.end() ? nullptr : answer->second;
}

void AskedView::VisitLatest(
    const std::string& resource,
    const std::string& ns,
    const std::function<bool(const admission::StoredObject&)>& visit) const {
  bool goes_on = true;
  seen_.VisitLatest(resource, ns, [&](const admission::StoredObject& object) {
    goes_on = visit(object);
    return goes_on;
  });
  for (const auto& [key, answer] : asked_.answers) {
    const bool is_new = answer != nullptr && seen_.GetLatest(key) == nullptr;
    if (!goes_on || !is_new || key.resource != resource) continue;
    if (ns.empty() || key.ns == ns) goes_on = visit(*answer);
  }
}

void AskedView::Missed(const admission::ObjectKey& key) const {
  if (!missed_ && !asked_.answers.contains(key)) missed_ = key;
}

}  // namespace strata::webhooks
