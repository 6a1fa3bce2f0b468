#include "inspect/cluster_watch.h"

#include <utility>

#include "inspect/snapshot.h"

namespace strata::inspect {

Result<std::unique_ptr<ClusterWatch>> ClusterWatch::Start(LiveCluster& cluster) {
  std::unique_ptr<ClusterWatch> watch(new ClusterWatch(cluster));
  for (const kube::WatchSpec& part : SnapshotParts()) {
    TRY_ASSIGN(const bool served, cluster.Serves(part.resource));
    if (!served) continue;
    watch->informers_.Add(part);
    watch->kinds_.push_back(part.resource);
    ++watch->unsynced_;
  }
  return watch;
}

void ClusterWatch::Wait(Duration settle) {
  constexpr Duration kLong = std::chrono::hours(1);
  bool changed = false;
  while (!changed || unsynced_ > 0) {
    if (Take(queue_.Wait(kLong))) changed = true;
  }
  const auto end = std::chrono::steady_clock::now() + settle;
  for (auto now = end - settle; now < end; now = std::chrono::steady_clock::now()) {
    Take(queue_.Wait(std::chrono::duration_cast<Duration>(end - now)));
  }
}

bool ClusterWatch::Take(std::vector<kube::Delta> deltas) {
  for (kube::Delta& delta : deltas) {
    Key key{delta.source, std::move(delta.key)};
    switch (delta.type) {
      case kube::Delta::Type::kSynced:
        --unsynced_;
        break;
      case kube::Delta::Type::kCaughtUp:
        break;
      case kube::Delta::Type::kDeleted:
        texts_.erase(key);
        break;
      case kube::Delta::Type::kAdded:
      case kube::Delta::Type::kModified:
        texts_.insert_or_assign(std::move(key), std::move(delta.text));
        break;
    }
  }
  return !deltas.empty();
}

std::vector<std::string_view> ClusterWatch::Texts() const {
  std::vector<std::string_view> texts;
  texts.reserve(texts_.size());
  for (const auto& [key, text] : texts_) texts.push_back(text);
  return texts;
}

std::vector<std::string_view> ClusterWatch::TextsOf(const kube::Resource& resource) const {
  std::vector<std::string_view> texts;
  for (const auto& [key, text] : texts_) {
    if (kinds_[static_cast<std::size_t>(key.source)] == resource) texts.push_back(text);
  }
  return texts;
}

}  // namespace strata::inspect
