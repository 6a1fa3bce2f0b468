#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "convert/node_lock.h"
#include "kube/pacing.h"
#include "live/binder.h"
#include "live/retry_times.h"
#include "net/transport.h"

namespace strata::live {

// What is to be done next for a bind of a pod with GPUs, or for a lock.
struct LockStep {
  enum class Kind : std::uint8_t {
    kLock,    // locks the node for the pod of `order`, if the node has still `version`
    kUnlock,  // removes the lock, under the same condition
    kBind,    // binds the pod: the node is locked for it
    kFail,    // the bind has failed, see `error`
    kTell,    // binds wait for `old_lock`, which is somebody else's; once for each lock
  };
  Kind kind = Kind::kBind;
  std::string node;
  std::string version;
  BindOrder order;       // of kLock, kBind and kFail
  std::string lock;      // of kLock: the text to be written
  std::string old_lock;  // the text of the lock that the node had; "": none
  bool breaks = false;   // that lock was somebody else's
  std::string error;
};

enum class LockAnswer : std::uint8_t {
  kDone,
  kRefused,  // for good
  kNone,     // to be tried again: the node has changed, or there was no answer
};

// What the book asks about a pod.
struct LockedPod {
  std::string uid;
  std::string node;   // "" before it is bound
  bool ours = false;  // this scheduler decides about it
  AgentProgress agent;
};

// Decides in which order pods with GPUs of one dialect are bound to nodes whose agent serves one
// pod at a time (NeedsNodeLock), and who has the lock of such a node. A value without effects: time
// is an argument, chance and what is known of pods are injected.
//
// A node has at most one pod in flight: from the lock to the moment at which the agent has served
// the pod, the pod has left Pending or is gone, or five minutes are over. The other pods wait in
// line. The agent releases the lock; the book does it when a bind failed, when the agent has not
// done it some time after it served the pod, and when it finds a lock that a former leader left
// for a pod of ours. A lock of somebody else is waited for, and broken by HAMi's rule: it is older
// than five minutes, or its owner is gone. The lock of Volcano's dialect names no owner: a
// scheduler that finds one which it did not set waits for it like for somebody else's.
//
// After a restart everything follows from nodes and pods as they are seen again. No step is decided
// before Next is called: a scheduler that does not lead, or has not seen everything, only looks.
class NodeLockBook {
 public:
  struct Moment {
    Time wall;
    net::SteadyTime steady;
  };
  // None: there is no such pod ("namespace/name").
  using FindPod = std::function<std::optional<LockedPod>(const std::string& pod)>;
  using Steps = std::vector<LockStep>;

  NodeLockBook(GpuDialect dialect, FindPod find_pod, kube::Random random)
      : dialect_(dialect), find_pod_(std::move(find_pod)), retries_(std::move(random)) {}

  [[nodiscard]] GpuDialect dialect() const { return dialect_; }

  // A node that needs the lock, as it was seen.
  void SeeNode(const std::string& node,
               std::string version,
               std::optional<NodeLock> lock,
               net::SteadyTime now);
  // The node is gone: binds that wait for it fail. Or it needs no lock: they go on.
  enum class Why : std::uint8_t { kGone, kNeedsNoLock };
  void DropNode(const std::string& node, Why why);
  // Something about the pod may be new.
  void SeePod(const std::string& pod, Moment now);
  // Whether binds of pods with GPUs to the node go through the book.
  [[nodiscard]] bool Has(const std::string& node) const { return nodes_.contains(node); }

  // The pod is to be bound, when its turn comes. REQUIRES: Has(order.node).
  void Add(BindOrder order);
  // The steps to take now. After kLock and kUnlock Take is to be called, after kBind TakeBind.
  [[nodiscard]] Steps Next(Moment now);
  // `version` is that of the node after a write that was done; `error` why it was refused.
  void Take(const LockStep& step,
            LockAnswer answer,
            const std::string& version,
            const std::string& error,
            net::SteadyTime now);
  // What became of a bind. Nothing for one that is not the book's.
  void TakeBind(const Binder::Outcome& outcome, net::SteadyTime now);

  // When Next will have something, unless something is seen before.
  [[nodiscard]] std::optional<net::SteadyTime> NextDue() const;
  // Binds that wait for their turn.
  [[nodiscard]] std::size_t waiting() const { return waiting_; }

 private:
  enum class Doing : std::uint8_t { kNothing, kLocking, kBinding, kUnlocking };
  struct Node {
    std::string version;
    std::optional<NodeLock> lock;
    net::SteadyTime lock_seen{};  // first with this text
    std::string own_lock;         // the last text that was to be written here
    std::string own_owner;        // for this pod
    std::string told;             // the last lock of kTell
    net::SteadyTime served{};     // when the last pod ceased to be in flight
    std::deque<BindOrder> line;
    Doing doing = Doing::kNothing;
    kube::PodName pod;            // of kLocking and kBinding
    std::string refused_version;  // a write on this version failed
  };
  // A pod that is bound, or being bound, and that the agent has still to serve.
  struct Flight {
    std::string uid;
    net::SteadyTime since{};
    bool seen = false;  // on its node
  };

  void Decide(const std::string& name, Node& node, Moment now, Steps& steps);
  // Adds kTell when it is due.
  void Tell(const std::string& name, Node& node, Steps& steps) const;
  void WaitUntil(const std::string& node, net::SteadyTime due);
  // When the last pod in flight has had its time; none: nobody is in flight.
  [[nodiscard]] std::optional<net::SteadyTime> EndOfFlights(const std::string& node,
                                                            net::SteadyTime now) const;
  // When the lock may be replaced or removed.
  [[nodiscard]] net::SteadyTime EndOfLock(const std::string& name,
                                          const Node& node,
                                          Moment now) const;
  [[nodiscard]] bool IsOwnLock(const Node& node) const;
  // Whether the lock is to be removed although nobody waits.
  [[nodiscard]] bool MayUnlock(const std::string& name, const Node& node) const;
  void SetLock(const std::string& name,
               Node& node,
               std::optional<NodeLock> lock,
               net::SteadyTime now);
  void FollowFlight(const std::string& node,
                    const std::string& pod,
                    const std::optional<LockedPod>& sight,
                    Moment now);
  void FollowLine(Node& node, const std::string& pod, const std::optional<LockedPod>& sight);
  [[nodiscard]] bool StillWaits(const BindOrder& order) const;
  void FailBind(BindOrder order, std::string error);

  GpuDialect dialect_;
  FindPod find_pod_;
  RetryTimes retries_;  // by node
  std::map<std::string, Node> nodes_;
  std::map<std::string, std::map<std::string, Flight>> flights_;  // by node and pod
  std::map<std::string, std::set<std::string>> nodes_of_;         // where a pod may matter, by pod
  std::set<std::string> changed_;                                 // nodes that Next has to look at
  std::map<std::string, net::SteadyTime> due_;                    // the same, later
  std::set<std::pair<net::SteadyTime, std::string>> dues_;        // due_ by time
  Steps ready_;
  std::size_t waiting_ = 0;
};

}  // namespace strata::live
