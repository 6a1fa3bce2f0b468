#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "admission/object_reader.h"
#include "webhooks/cluster_view.h"

namespace strata::webhooks {

// What the API server was asked for during one review. An informer is a moment behind: a Job may
// come right after its Queue.
struct AskedObjects {
  std::map<admission::ObjectKey, admission::ObjectRef> answers;  // nullptr: it is not there either
  std::optional<admission::ObjectKey> next;  // refused for lack of this one: ask, then try again
};

// The cluster as one review sees it: what informers have seen, and the answers.
class AskedView final : public admission::ObjectReader {
 public:
  // Both must outlive it.
  AskedView(const ClusterView& seen, const AskedObjects& asked) : seen_(seen), asked_(asked) {}

  [[nodiscard]] admission::ObjectRef GetLatest(const admission::ObjectKey& key) const override;
  void VisitLatest(const std::string& resource,
                   const std::string& ns,
                   const std::function<bool(const admission::StoredObject&)>& visit) const override;
  void Missed(const admission::ObjectKey& key) const override;

  // The first object that a rule missed and that was not asked for yet.
  [[nodiscard]] const std::optional<admission::ObjectKey>& missed() const { return missed_; }

 private:
  const ClusterView& seen_;
  const AskedObjects& asked_;
  mutable std::optional<admission::ObjectKey> missed_;
};

}  // namespace strata::webhooks
