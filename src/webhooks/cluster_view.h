#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "admission/object_reader.h"
#include "base/result.h"
#include "kube/delta.h"
#include "kube/resource.h"
#include "webhooks/webhook.h"

namespace strata::webhooks {

// The collections that the rules of these webhooks look at.
[[nodiscard]] std::vector<kube::Resource> WatchedBy(std::span<const Webhook* const> webhooks);

// "queues.scheduling.volcano.sh", "namespaces": how rules name a collection.
[[nodiscard]] std::string FullNameOf(const kube::Resource& resource);

// An object as rules read it, with the fields that they use. kInvalidArgument when it is not JSON.
[[nodiscard]] Result<admission::ObjectRef> KeepObject(const kube::Resource& resource,
                                                      const admission::ObjectKey& key,
                                                      const std::string& text);

// What informers have seen of them, as the rules of admission read it. Only the fields that the
// rules use are kept. One thread.
class ClusterView final : public admission::ObjectReader {
 public:
  // `watched[i]` is what informer i looks at.
  explicit ClusterView(std::vector<kube::Resource> watched);

  // kInvalidArgument for an object that cannot be read; it counts as not there.
  Status Take(const kube::Delta& delta);
  // Whether everything that was there at the start has been seen.
  [[nodiscard]] bool IsSynced() const { return synced_ >= watched_.size(); }

  [[nodiscard]] admission::ObjectRef GetLatest(const admission::ObjectKey& key) const override;
  void VisitLatest(const std::string& resource,
                   const std::string& ns,
                   const std::function<bool(const admission::StoredObject&)>& visit) const override;

 private:
  std::vector<kube::Resource> watched_;
  std::size_t synced_ = 0;
  std::map<admission::ObjectKey, admission::ObjectRef> objects_;
};

}  // namespace strata::webhooks
