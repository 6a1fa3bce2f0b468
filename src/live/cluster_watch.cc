#include "live/cluster_watch.h"

#include <utility>

#include <fmt/format.h>

#include "live/watched_kinds.h"
#include "objects/load.h"

namespace strata::live {

ClusterWatch::ClusterWatch(kube::Client& client,
                           ClusterFeed& feed,
                           const obs::Log& log,
                           std::shared_ptr<kube::Mailbox> mailbox,
                           kube::Random random)
    : client_(client),
      feed_(feed),
      log_(log),
      mailbox_(std::move(mailbox)),
      random_(std::move(random)) {}

void ClusterWatch::Start(OnConfMap on_conf_map, std::string conf_map) {
  on_conf_map_ = std::move(on_conf_map);
  conf_map_ = std::move(conf_map);
  queue_.SetWake([mailbox = mailbox_] { mailbox->Wake(); });
  kube::Informers::Options options;
  options.random = random_;
  options.trouble = [mailbox = mailbox_, this](const kube::WatchTrouble& trouble) {
    mailbox->Post([this, trouble] { TakeTrouble(trouble); });
  };
  options.sight = [mailbox = mailbox_, this](int source, kube::Reflector::Sight sight) {
    mailbox->Post([this, source, sight] { TakeSight(source, sight); });
  };
  informers_.emplace(client_, queue_, std::move(options));
  for (const WatchedKind& kind : kWatchedKinds) {
    sources_.insert(informers_->Add({kind.resource, "", "", ""}));
  }
  if (on_conf_map_) {
    const std::size_t slash = conf_map_.find('/');
    conf_source_ = informers_->Add({kube::kConfigMaps,
                                    conf_map_.substr(0, slash),
                                    "",
                                    "metadata.name=" + conf_map_.substr(slash + 1)});
    sources_.insert(conf_source_);
  }
  waited_for_ = sources_;
}

void ClusterWatch::CatchUp() {
  if (!informers_) return;
  behind_ = sources_;
  informers_->CatchUp();
}

void ClusterWatch::TakeTrouble(const kube::WatchTrouble& trouble) {
  log_.Warning("watch failed, retrying", {{"err", trouble.Text()}});
  if (trouble.source == conf_source_) return;
  const WatchedKind& kind = kWatchedKinds[static_cast<std::size_t>(trouble.source)];
  if (!kind.may_be_missing || !trouble.IsMissing()) return;
  waited_for_.erase(trouble.source);
  if (behind_) behind_->erase(trouble.source);
}

void ClusterWatch::TakeSight(int source, kube::Reflector::Sight sight) {
  if (sight == kube::Reflector::Sight::kLost) {
    overdue_.insert(source);
    log_.Warning("watch overdue, connecting again", {{"informer", source}});
  } else {
    overdue_.erase(source);
    log_.Info("watch works again", {{"informer", source}});
  }
  blind_ = !overdue_.empty();
}

void ClusterWatch::TakeDeltas() {
  for (const kube::Delta& delta : queue_.Take()) TakeDelta(delta);
  if (synced_ || !waited_for_.empty()) return;
  synced_ = true;
  log_.Info("has seen the cluster",
            {{"nodes", feed_.state().nodes().all().size()},
             {"jobs", feed_.state().workload().jobs().size()}});
  if (!on_conf_map_ || conf_map_seen_) return;
  log_.Warning(
      "ConfigMap not found, using the default configuration (another name: "
      "--scheduler-conf-map NAMESPACE/NAME)",
      {{"configmap", conf_map_}});
}

void ClusterWatch::TakeDelta(const kube::Delta& delta) {
  using Type = kube::Delta::Type;
  if (delta.type == Type::kSynced) {
    waited_for_.erase(delta.source);
    return;
  }
  if (delta.type == Type::kCaughtUp) {
    behind_->erase(delta.source);
    return;
  }
  if (delta.source == conf_source_) {
    conf_map_seen_ = true;
    return on_conf_map_(delta);
  }
  const kube::Resource& resource = kWatchedKinds[static_cast<std::size_t>(delta.source)].resource;
  bool taken = true;
  if (delta.type == Type::kDeleted) {
    feed_.Remove(resource.kind, delta.key.ns, delta.key.name);
  } else {
    taken = Apply(delta);
  }
  if (resource == kube::kPods) NoteVersion(delta);
  if (resource == kube::kPodGroups && on_group_) {
    if (const auto* group = feed_.FindGroup(delta.key.ns + "/" + delta.key.name)) on_group_(*group);
  }
  if (resource == kube::kQueues && on_queue_) {
    if (const auto* queue = feed_.FindQueue(delta.key.name)) on_queue_(*queue);
  }
  if (taken) Tell(resource, delta);
}

void ClusterWatch::Tell(const kube::Resource& resource, const kube::Delta& delta) const {
  if (resource == kube::kNodes && on_node_) on_node_(delta.key.name, delta.version);
  if (resource == kube::kPods && on_pod_) on_pod_(delta.key.ns + "/" + delta.key.name);
}

void ClusterWatch::NoteVersion(const kube::Delta& delta) {
  const std::string name = delta.key.ns + "/" + delta.key.name;
  const objects::Pod* const pod = feed_.FindPod(name);
  if (pod != nullptr && pod->spec.node_name.empty()) {
    versions_[name] = delta.version;
  } else {
    versions_.erase(name);
  }
}

std::string ClusterWatch::VersionOf(const std::string& pod) const {
  const auto found = versions_.find(pod);
  return found == versions_.end() ? "" : found->second;
}

bool ClusterWatch::Apply(const kube::Delta& delta) {
  const objects::Source source{"cluster", delta.text};
  Result<objects::ObjectSet> read = objects::ParseObjects({&source, 1});
  if (read) {
    for (const std::string& warning : read->warnings) {
      log_.Warning("object used only in part", {{"what", warning}});
    }
  }
  const Status applied =
      read ? feed_.Apply(*std::move(read)) : Status(tl::unexpected<Error>(std::move(read).error()));
  if (!applied) log_.Warning("object skipped", {{"err", applied.error().message}});
  return applied.has_value();
}

}  // namespace strata::live
