#include "live/node_lock_book.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "convert/gpu_dialect.h"
#include "live/bind_book.h"

namespace strata::live {
namespace {

using LockKind = LockStep::Kind;
using AgentPhase = AgentProgress::Phase;

// HAMi's time limit, of a lock and of what an agent does under it.
constexpr Duration kLockLimit = std::chrono::minutes(5);
// The agent writes the phase of the pod first and releases the lock then; pods and nodes are seen
// by different watches.
constexpr Duration kReleaseTime = std::chrono::seconds(10);

bool IsSamePod(const kube::PodName& a, const kube::PodName& b) {
  return a.ns == b.ns && a.name == b.name && a.uid == b.uid;
}

// False when the pod is not in the line.
bool PutFirst(const std::string& pod, std::deque<BindOrder>& line) {
  const auto order = std::find_if(
      line.begin(), line.end(), [&](const BindOrder& one) { return NameOf(one.pod) == pod; });
  if (order == line.end()) return false;
  std::rotate(line.begin(), order, std::next(order));
  return true;
}

LockStep StepFor(LockKind kind, BindOrder order, std::string error) {
  LockStep step;
  step.kind = kind;
  step.node = order.node;
  step.order = std::move(order);
  step.error = std::move(error);
  return step;
}

}  // namespace

void NodeLockBook::SeeNode(const std::string& node,
                           std::string version,
                           std::optional<NodeLock> lock,
                           net::SteadyTime now) {
  Node& known = nodes_[node];
  known.version = std::move(version);
  SetLock(node, known, std::move(lock), now);
  changed_.insert(node);
}

void NodeLockBook::SetLock(const std::string& name,
                           Node& node,
                           std::optional<NodeLock> lock,
                           net::SteadyTime now) {
  const bool same = lock && node.lock && lock->text == node.lock->text;
  if (!same) node.lock_seen = now;
  node.lock = std::move(lock);
  const bool is_own = node.lock && node.lock->text == node.own_lock;
  if (is_own && node.lock->owner.empty()) node.lock->owner = node.own_owner;
  if (node.lock && !node.lock->owner.empty()) nodes_of_[node.lock->owner].insert(name);
}

void NodeLockBook::DropNode(const std::string& node, Why why) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return;
  std::deque<BindOrder> line = std::move(found->second.line);
  waiting_ -= line.size();
  nodes_.erase(found);
  retries_.Forget(node);
  for (BindOrder& order : line) {
    if (why == Why::kGone) {
      FailBind(std::move(order), "node not found");
    } else {
      ready_.push_back(StepFor(LockKind::kBind, std::move(order), ""));
    }
  }
}

void NodeLockBook::FailBind(BindOrder order, std::string error) {
  ready_.push_back(StepFor(LockKind::kFail, std::move(order), std::move(error)));
}

void NodeLockBook::SeePod(const std::string& pod, Moment now) {
  const std::optional<LockedPod> sight = find_pod_(pod);
  if (sight && sight->agent.phase == AgentPhase::kAllocating) nodes_of_[pod].insert(sight->node);
  const auto known = nodes_of_.find(pod);
  if (known == nodes_of_.end()) return;
  for (const std::string& node : known->second) {
    FollowFlight(node, pod, sight, now);
    if (const auto found = nodes_.find(node); found != nodes_.end()) {
      FollowLine(found->second, pod, sight);
      changed_.insert(node);
    }
  }
  if (!sight) nodes_of_.erase(known);
}

void NodeLockBook::FollowFlight(const std::string& node,
                                const std::string& pod,
                                const std::optional<LockedPod>& sight,
                                Moment now) {
  const auto flights = flights_.find(node);
  const bool known = flights != flights_.end() && flights->second.contains(pod);
  const bool flies = sight && sight->node == node && sight->agent.phase == AgentPhase::kAllocating;
  if (flies) {
    Flight& flight = flights_[node][pod];
    if (!known || flight.uid != sight->uid) {
      // One that another process bound has had some of its time.
      const Duration age = sight->agent.bound ? now.wall - *sight->agent.bound : Duration(0);
      flight = {sight->uid, now.steady - std::clamp(age, Duration(0), kLockLimit), true};
    }
    flight.seen = true;
    return;
  }
  if (!known) return;
  const Flight& flight = flights->second.at(pod);
  const bool not_seen_yet =
      !flight.seen && sight && sight->uid == flight.uid && sight->node.empty();
  if (not_seen_yet) return;
  flights->second.erase(pod);
  if (flights->second.empty()) flights_.erase(flights);
  if (const auto found = nodes_.find(node); found != nodes_.end()) {
    found->second.served = now.steady;
  }
}

// A pod that is gone, or that somebody else has bound, does not wait any more.
void NodeLockBook::FollowLine(Node& node,
                              const std::string& pod,
                              const std::optional<LockedPod>& sight) {
  const auto order = std::find_if(node.line.begin(), node.line.end(), [&](const BindOrder& one) {
    return NameOf(one.pod) == pod;
  });
  if (order == node.line.end()) return;
  if (sight && sight->uid == order->pod.uid && sight->node.empty()) return;
  node.line.erase(order);
  --waiting_;
}

bool NodeLockBook::StillWaits(const BindOrder& order) const {
  const std::optional<LockedPod> sight = find_pod_(NameOf(order.pod));
  return sight && sight->uid == order.pod.uid && sight->node.empty();
}

void NodeLockBook::Add(BindOrder order) {
  Node& node = nodes_.at(order.node);
  nodes_of_[NameOf(order.pod)].insert(order.node);
  changed_.insert(order.node);
  node.line.push_back(std::move(order));
  ++waiting_;
}

NodeLockBook::Steps NodeLockBook::Next(Moment now) {
  while (!dues_.empty() && dues_.begin()->first <= now.steady) {
    changed_.insert(dues_.begin()->second);
    due_.erase(dues_.begin()->second);
    dues_.erase(dues_.begin());
  }
  Steps steps = std::exchange(ready_, {});
  for (const std::string& name : std::exchange(changed_, {})) {
    if (const auto due = due_.find(name); due != due_.end()) {
      dues_.erase({due->second, name});
      due_.erase(due);
    }
    const auto node = nodes_.find(name);
    if (node != nodes_.end()) Decide(name, node->second, now, steps);
  }
  return steps;
}

void NodeLockBook::WaitUntil(const std::string& node, net::SteadyTime due) {
  due_[node] = due;
  dues_.emplace(due, node);
}

std::optional<net::SteadyTime> NodeLockBook::NextDue() const {
  if (!ready_.empty() || !changed_.empty()) return net::SteadyTime{};
  if (dues_.empty()) return std::nullopt;
  return dues_.begin()->first;
}

void NodeLockBook::Decide(const std::string& name, Node& node, Moment now, Steps& steps) {
  if (node.doing != Doing::kNothing) return;
  if (const auto end = EndOfFlights(name, now.steady)) return WaitUntil(name, *end);
  if (node.line.empty() && !MayUnlock(name, node)) return;
  const bool owner_waits = node.lock && PutFirst(node.lock->owner, node.line);
  if (node.lock && !owner_waits) {
    const net::SteadyTime end = EndOfLock(name, node, now);
    if (now.steady < end) Tell(name, node, steps);
    if (now.steady < end) return WaitUntil(name, end);
  }
  if (node.version.empty()) return;  // it will be seen
  const net::SteadyTime again = retries_.Due(name);
  if (node.version == node.refused_version && now.steady < again) return WaitUntil(name, again);
  LockStep step{.kind = LockKind::kUnlock,
                .node = name,
                .version = node.version,
                .order = {},
                .lock = "",
                .old_lock = node.lock ? node.lock->text : "",
                .breaks = node.lock && !owner_waits && !IsOwnLock(node),
                .error = ""};
  node.doing = Doing::kUnlocking;
  if (!node.line.empty()) {
    step.kind = LockKind::kLock;
    step.order = std::move(node.line.front());
    step.lock = NodeLockText(dialect_, now.wall, step.order.pod.ns, step.order.pod.name);
    node.line.pop_front();
    --waiting_;
    node.doing = Doing::kLocking;
    node.pod = step.order.pod;
    node.own_lock = step.lock;  // even if the answer is lost
    node.own_owner = NameOf(step.order.pod);
  }
  steps.push_back(std::move(step));
}

void NodeLockBook::Tell(const std::string& name, Node& node, Steps& steps) const {
  if (node.line.empty() || IsOwnLock(node) || node.told == node.lock->text) return;
  node.told = node.lock->text;
  LockStep step;
  step.kind = LockKind::kTell;
  step.node = name;
  step.old_lock = node.told;
  steps.push_back(std::move(step));
}

std::optional<net::SteadyTime> NodeLockBook::EndOfFlights(const std::string& node,
                                                          net::SteadyTime now) const {
  const auto flights = flights_.find(node);
  if (flights == flights_.end()) return std::nullopt;
  std::optional<net::SteadyTime> last;
  for (const auto& [pod, flight] : flights->second) {
    const net::SteadyTime end = flight.since + kLockLimit;
    if (now < end) last = std::max(last.value_or(end), end);
  }
  return last;
}

// Whether this scheduler, or one before it, has set the lock.
bool NodeLockBook::IsOwnLock(const Node& node) const {
  if (!node.lock) return false;
  if (node.lock->text == node.own_lock) return true;
  const std::optional<LockedPod> owner = find_pod_(node.lock->owner);
  return owner && owner->ours;
}

// An agent that is late serves the right pod only as long as the lock names it.
bool NodeLockBook::MayUnlock(const std::string& name, const Node& node) const {
  if (!IsOwnLock(node)) return false;
  const auto flights = flights_.find(name);
  return flights == flights_.end() || !flights->second.contains(node.lock->owner);
}

// REQUIRES: the node has a lock, nobody is in flight, and the owner is not in line.
net::SteadyTime NodeLockBook::EndOfLock(const std::string& name,
                                        const Node& node,
                                        Moment now) const {
  const NodeLock& lock = *node.lock;
  net::SteadyTime end = node.lock_seen + kLockLimit;  // whatever the clocks say
  if (lock.since) end = std::min(end, now.steady + (*lock.since + kLockLimit - now.wall));
  if (lock.owner.empty()) return end;
  const std::optional<LockedPod> owner = find_pod_(lock.owner);
  if (!owner) return std::min(end, node.lock_seen + kReleaseTime);
  if (!owner->ours) return end;
  const bool served_here = owner->node == name && owner->agent.phase == AgentPhase::kServed;
  if (!served_here) return now.steady;
  return std::min(end, std::max(node.served, node.lock_seen) + kReleaseTime);
}

void NodeLockBook::Take(const LockStep& step,
                        LockAnswer answer,
                        const std::string& version,
                        const std::string& error,
                        net::SteadyTime now) {
  const bool locks = step.kind == LockKind::kLock;
  const auto found = nodes_.find(step.node);
  if (found == nodes_.end()) {
    if (locks) FailBind(step.order, error.empty() ? "node not found" : error);
    return;
  }
  Node& node = found->second;
  node.doing = Doing::kNothing;
  changed_.insert(step.node);
  if (answer == LockAnswer::kDone) {
    retries_.Forget(step.node);
    node.version = version;
    std::optional<NodeLock> lock;
    if (locks) lock = ReadNodeLock({{std::string(NamesOf(dialect_).lock), step.lock}}, dialect_);
    node.own_lock = step.lock;
    SetLock(step.node, node, std::move(lock), now);
    if (!locks) return;
    node.doing = Doing::kBinding;
    ready_.push_back(StepFor(LockKind::kBind, step.order, ""));
    return;
  }
  node.refused_version = step.version;
  retries_.Failed(step.node, now);
  if (!locks) return;
  if (answer == LockAnswer::kRefused) {
    return FailBind(step.order, fmt::format("cannot lock node {}: {}", step.node, error));
  }
  if (!StillWaits(step.order)) return;
  node.line.push_front(step.order);
  ++waiting_;
}

void NodeLockBook::TakeBind(const Binder::Outcome& outcome, net::SteadyTime now) {
  const kube::PodName& pod = outcome.order.pod;
  const std::string& name = outcome.order.node;
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return;
  Node& node = found->second;
  if (node.doing != Doing::kBinding || !IsSamePod(node.pod, pod)) return;
  node.doing = Doing::kNothing;
  changed_.insert(name);
  if (outcome.kind == Binder::Outcome::Kind::kFailed) return;
  const std::optional<LockedPod> sight = find_pod_(NameOf(pod));
  const bool not_seen_yet = sight && sight->uid == pod.uid && sight->node.empty();
  if (not_seen_yet) flights_[name].try_emplace(NameOf(pod), Flight{pod.uid, now, false});
}

}  // namespace strata::live
