#include "live/cluster_watch.h"

#include <utility>

#include <fmt/format.h>

#include "live/conf_source.h"
#include "live/watched_kinds.h"
#include "objects/load.h"

namespace strata::live {

ClusterWatch::ClusterWatch(kube::Client& client,
                           ClusterFeed& feed,
                           const obs::Log& log,
                           std::shared_ptr<Mailbox> mailbox)
    : client_(client), feed_(feed), log_(log), mailbox_(std::move(mailbox)) {}

void ClusterWatch::Start(OnConfMap on_conf_map) {
  on_conf_map_ = std::move(on_conf_map);
  queue_.SetWake([mailbox = mailbox_] { mailbox->Wake(); });
  kube::Informers::Options options;
  options.trouble = [mailbox = mailbox_, this](const std::string& line) {
    mailbox->Post([this, line] { TakeTrouble(line); });
  };
  informers_.emplace(client_, queue_, std::move(options));
  for (const WatchedKind& kind : kWatchedKinds) {
    waited_for_.insert(informers_->Add({kind.resource, "", "", ""}));
  }
  if (!on_conf_map_) return;
  conf_source_ = informers_->Add(
      {kube::kConfigMaps, kConfSpace, "", fmt::format("metadata.name={}", kConfMap)});
  waited_for_.insert(conf_source_);
}

void ClusterWatch::TakeTrouble(const std::string& line) {
  log_.Warning("cannot watch", {{"err", line}});
  for (std::size_t i = 0; i < kWatchedKinds.size(); ++i) {
    const WatchedKind& kind = kWatchedKinds[i];
    const bool its = line.starts_with(std::string(kind.resource.plural) + ":");
    if (its && kind.may_be_missing) waited_for_.erase(static_cast<int>(i));
  }
}

void ClusterWatch::TakeDeltas() {
  for (const kube::Delta& delta : queue_.Take()) TakeDelta(delta);
  if (synced_ || !waited_for_.empty()) return;
  synced_ = true;
  log_.Info("cluster seen",
            {{"nodes", feed_.state().nodes().size()}, {"jobs", feed_.state().jobs().size()}});
}

void ClusterWatch::TakeDelta(const kube::Delta& delta) {
  using Type = kube::Delta::Type;
  if (delta.type == Type::kSynced) {
    waited_for_.erase(delta.source);
    return;
  }
  if (delta.source == conf_source_) return on_conf_map_(delta);
  const kube::Resource& resource = kWatchedKinds[static_cast<std::size_t>(delta.source)].resource;
  if (delta.type == Type::kDeleted) {
    feed_.Remove(resource.kind, delta.key.space, delta.key.name);
    return;
  }
  const objects::Source source{"cluster", delta.text};
  Result<objects::ObjectSet> read = objects::ParseObjects({&source, 1});
  if (read) {
    for (const std::string& warning : read->warnings) {
      log_.Warning("object not used as written", {{"what", warning}});
    }
  }
  const Status applied =
      read ? feed_.Apply(*std::move(read)) : Status(tl::unexpected<Error>(std::move(read).error()));
  if (!applied) log_.Warning("object left out", {{"err", applied.error().message}});
}

}  // namespace strata::live
