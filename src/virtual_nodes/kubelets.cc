#include "virtual_nodes/kubelets.h"

#include <string_view>
#include <utility>

namespace strata::virtual_nodes {
namespace {

// Keys of the queue: "node/n1", "lease/n1", "pod/default/p1".
constexpr std::string_view kNodePrefix = "node/";
constexpr std::string_view kLeasePrefix = "lease/";

std::string NodeKey(std::string_view name) {
  return std::string(kNodePrefix).append(name);
}
std::string LeaseKey(std::string_view name) {
  return std::string(kLeasePrefix).append(name);
}
std::string PodKey(const kube::ObjectKey& key) {
  return "pod/" + key.ns + "/" + key.name;
}

}  // namespace

Status Kubelets::Take(const kube::Delta& delta) {
  if (delta.type == kube::Delta::Type::kSynced) {
    ++synced_;
    return {};
  }
  return delta.source == kNodeSource ? TakeNode(delta) : TakePod(delta);
}

Status Kubelets::TakeNode(const kube::Delta& delta) {
  const std::string key = NodeKey(delta.key.name);
  if (delta.type == kube::Delta::Type::kDeleted) {
    nodes_.erase(key);
    LookAtPodsOf(delta.key.name);
    return {};
  }
  TRY_ASSIGN(SeenNode seen, SeenNode::Read(delta.text));
  Node& node = nodes_[key];
  const bool ran = IsAlive(node.seen) && IsOurs(node.seen, reach_);
  const bool runs = IsAlive(seen) && IsOurs(seen, reach_);
  const bool other_agent = seen.agent != node.seen.agent;
  node.seen = std::move(seen);
  queue_.Add(key);
  if (runs != ran || other_agent) LookAtPodsOf(delta.key.name);
  if (runs && !ran && reach_ == Reach::kLabelled) queue_.Add(LeaseKey(delta.key.name));
  return {};
}

void Kubelets::LookAtPodsOf(const std::string& node) {
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return;
  for (const std::string& key : found->second) queue_.Add(key);
}

Status Kubelets::TakePod(const kube::Delta& delta) {
  const std::string key = PodKey(delta.key);
  if (delta.type == kube::Delta::Type::kDeleted) {
    agents_.Release(delta.key.ns + "/" + delta.key.name);
    DropPod(key);
    return {};
  }
  TRY_ASSIGN(SeenPod seen, SeenPod::Read(delta.text));
  if (seen.HasEnded()) agents_.Release(seen.ns + "/" + seen.name);
  if (seen.start_time) seen.gpu_pod.reset();  // the agent is done with it
  PutPod(key, std::move(seen));
  return {};
}

void Kubelets::PutPod(const std::string& key, SeenPod seen) {
  const bool runs_on = seen.HasEnded() || (seen.start_time && !seen.run_time);
  if (!seen.deleting && (seen.node.empty() || runs_on)) return DropPod(key);
  const auto before = pods_.find(key);
  if (before != pods_.end() && before->second.seen.uid != seen.uid) DropPod(key);
  Pod& pod = pods_[key];
  by_node_[seen.node].insert(key);
  pod.seen = std::move(seen);
  queue_.Add(key);
}

void Kubelets::DropPod(const std::string& key) {
  const auto found = pods_.find(key);
  if (found == pods_.end()) return;
  const auto peers = by_node_.find(found->second.seen.node);
  peers->second.erase(key);
  if (peers->second.empty()) by_node_.erase(peers);
  pods_.erase(found);
}

std::optional<Kubelets::Work> Kubelets::Next(Moment now) {
  while (std::optional<std::string> key = queue_.Next(now.steady)) {
    if (std::optional<kube::Call> call = Decide(*key, now)) {
      under_way_.insert(*key);
      return Work{std::move(*key), std::move(*call)};
    }
    queue_.Forget(*key);
    queue_.Done(*key);
  }
  return std::nullopt;
}

std::optional<kube::Call> Kubelets::Decide(const std::string& key, Moment now) {
  if (key.starts_with(kLeasePrefix)) {
    const auto node = nodes_.find(NodeKey(std::string_view(key).substr(kLeasePrefix.size())));
    if (node == nodes_.end() || !IsAlive(node->second.seen) || !IsOurs(node->second.seen, reach_)) {
      return std::nullopt;
    }
    return RenewLease(node->second.seen, now.wall);
  }
  if (key.starts_with(kNodePrefix)) {
    const auto node = nodes_.find(key);
    return node == nodes_.end() ? std::nullopt : DecideNodeKey(node->second, now);
  }
  const auto pod = pods_.find(key);
  return pod == pods_.end() ? std::nullopt : DecidePodKey(key, pod->second, now);
}

std::optional<kube::Call> Kubelets::DecideNodeKey(Node& node, Moment now) {
  if (node.decided == node.seen.version) return std::nullopt;
  std::optional<kube::Call> call = DecideNode(node.seen, reach_, now.wall);
  if (call) node.decided = node.seen.version;
  return call;
}

PodCircumstances Kubelets::CircumstancesOf(const Pod& pod) const {
  PodCircumstances around{
      .host = Host::kForeign, .host_ip = {}, .started = pod.started, .stop_time = {}};
  const auto found = nodes_.find(NodeKey(pod.seen.node));
  if (found == nodes_.end()) {
    if (reach_ == Reach::kEvery) around.host = Host::kMissing;
    return around;
  }
  const SeenNode& node = found->second.seen;
  if (!IsOurs(node, reach_)) return around;
  around.host = IsAlive(node) ? Host::kAlive : Host::kFailed;
  around.host_ip = node.internal_ip;
  around.stop_time = node.stop_time;
  return around;
}

std::optional<kube::Call> Kubelets::AskAgent(const Pod& pod, const SeenNode& node, Time now) {
  if (node.agent == SeenNode::Agent::kNone) return std::nullopt;
  const Agents::Answer answer = agents_.Admit(node, *pod.seen.gpu_pod, now);
  switch (answer.kind) {
    case Agents::Answer::Kind::kStart:
      return std::nullopt;
    case Agents::Answer::Kind::kWrite:
      return PatchPod(pod.seen, answer.text);
    case Agents::Answer::Kind::kRefused:
      return RejectPod(pod.seen, answer.text, now);
  }
  return std::nullopt;
}

std::optional<kube::Call> Kubelets::DecidePodKey(const std::string& key, Pod& pod, Moment now) {
  if (pod.decided == pod.seen.version) return std::nullopt;
  const PodCircumstances around = CircumstancesOf(pod);
  if (pod.seen.gpu_pod && IsToStart(pod.seen, around.host)) {
    const SeenNode& node = nodes_.at(NodeKey(pod.seen.node)).seen;
    if (node.agent == SeenNode::Agent::kStopped) return std::nullopt;
    if (auto call = AskAgent(pod, node, now.wall)) {
      pod.decided = pod.seen.version;
      return call;
    }
  }
  PodAction action = DecidePod(pod.seen, around, now.wall);
  if (const Time* due = std::get_if<Time>(&action)) {
    queue_.AddAt(key, now.steady + (*due - now.wall));
    return std::nullopt;
  }
  kube::Call* const call = std::get_if<kube::Call>(&action);
  if (call == nullptr) return std::nullopt;
  pod.decided = pod.seen.version;
  if (!pod.seen.deleting && !pod.seen.start_time) pod.started = now.wall;
  return std::move(*call);
}

void Kubelets::Finish(const std::string& key, Outcome outcome, Moment now) {
  under_way_.erase(key);
  if (outcome == Outcome::kFailed) {
    if (const auto node = nodes_.find(key); node != nodes_.end()) node->second.decided.clear();
    if (const auto pod = pods_.find(key); pod != pods_.end()) pod->second.decided.clear();
    queue_.AddRateLimited(key, now.steady);
  } else {
    queue_.Forget(key);
    if (key.starts_with(kLeasePrefix)) queue_.AddAt(key, now.steady + kRenewEvery);
  }
  queue_.Done(key);
}

}  // namespace strata::virtual_nodes
