#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "model/cluster_state.h"
#include "sched/config.h"
#include "sched/peer_counts.h"
#include "sched/score.h"
#include "sched/trace.h"

// The extension points of the cycle. A plugin is one class that derives from Plugin and from the
// points it serves; the switches of its configuration say which of them are asked. Every method is
// a pure question: state in, answer out.
namespace strata {

// Why something is not done: one CamelCase word of docs/reasons.md and one sentence for the user.
struct Refusal {
  std::string reason;
  std::string message;

  bool operator==(const Refusal&) const = default;
};

class Plugin {
 public:
  Plugin() = default;
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  virtual ~Plugin() = default;

  // A cycle begins. `state` outlives it; what it holds at this moment is "session open".
  virtual void Open(const ClusterState& state, Time now) {
    static_cast<void>(state);
    static_cast<void>(now);
  }
};

// Who comes first: negative when `a` does, positive when `b` does, 0 when this plugin does not
// mind.
class OrderPoint {
 public:
  virtual ~OrderPoint() = default;
  [[nodiscard]] virtual int CompareQueues(const Queue& a, const Queue& b) const;
  [[nodiscard]] virtual int CompareJobs(const Job& a, const Job& b) const;
  [[nodiscard]] virtual int CompareSubJobs(const Job& job, const SubJob& a, const SubJob& b) const;
  [[nodiscard]] virtual int CompareTasks(const Task& a, const Task& b) const;
};

enum class Vote : std::int8_t { kReject = -1, kAbstain = 0, kPermit = 1 };

struct Ballot {
  Vote vote = Vote::kAbstain;
  Refusal refusal;  // with kReject
};

// The gates a job passes.
class JobGatePoint {
 public:
  virtual ~JobGatePoint() = default;
  // Can it ever start as it stands? (never switched off)
  [[nodiscard]] virtual std::optional<Refusal> Invalid(const Job& job) const;
  // May it enter its queue (PodGroup phase Inqueue)?
  [[nodiscard]] virtual Ballot Enqueueable(const Job& job) const;
  virtual void OnEnqueued(const Job& job);
  // Enough tasks have a node to start; enough have one or wait for one.
  [[nodiscard]] virtual bool Ready(const Job& job) const;
  [[nodiscard]] virtual Vote Pipelined(const Job& job) const;
};

class SubJobGatePoint {
 public:
  virtual ~SubJobGatePoint() = default;
  [[nodiscard]] virtual bool SubJobReady(const Job& job, const SubJob& sub_job) const;
  [[nodiscard]] virtual Vote SubJobPipelined(const Job& job, const SubJob& sub_job) const;
};

// What a queue may have.
class QuotaPoint {
 public:
  virtual ~QuotaPoint() = default;
  // Gets nothing more in this cycle.
  [[nodiscard]] virtual bool Overused(QueueId queue) const;
  // May it have `request` more now? The refusal says what is used up.
  [[nodiscard]] virtual std::optional<Refusal> Exhausted(QueueId queue,
                                                         const Resources& request) const;
};

// Which nodes take a class of tasks, resources aside. AdmitsSpec looks at the node's spec alone and
// is remembered until the spec changes; AdmitsNow looks at what runs there.
class NodeFilterPoint {
 public:
  virtual ~NodeFilterPoint() = default;
  // False: it takes the class everywhere, and need not be asked.
  [[nodiscard]] virtual bool ConcernsClass(const ClassSpec& /*spec*/) const { return true; }
  [[nodiscard]] virtual bool AdmitsSpec(const ClusterState& state,
                                        const ClassSpec& spec,
                                        NodeId node) const = 0;
  [[nodiscard]] virtual bool AdmitsNow(const ClusterState& state,
                                       const ClassSpec& spec,
                                       NodeId node) const = 0;
  // The same once everything that is being released there is gone.
  [[nodiscard]] virtual bool AdmitsFuture(const ClusterState& state,
                                          const ClassSpec& spec,
                                          NodeId node) const {
    return AdmitsNow(state, spec, node);
  }
  // How many of `most` tasks of the class it lets onto the node one after the other; more than can
  // be is fine. REQUIRES: AdmitsNow.
  [[nodiscard]] virtual std::uint32_t Room(const ClusterState& /*state*/,
                                           const ClassSpec& /*spec*/,
                                           NodeId /*node*/,
                                           std::uint32_t most) const {
    return most;
  }
  // True when AdmitsInAll has something to say about the class.
  [[nodiscard]] virtual bool LooksBeyondNode(const ClassSpec& /*spec*/) const { return false; }
  // What depends on more than the node, and so is never remembered. REQUIRES: AdmitsNow.
  // AdmitsFuture answers for itself.
  [[nodiscard]] virtual bool AdmitsInAll(const ClusterState& /*state*/,
                                         const ClassSpec& /*spec*/,
                                         NodeId /*node*/) const {
    return true;
  }
  // True when a node that takes one task of the class takes no second one.
  [[nodiscard]] virtual bool TakesOnlyOne(const ClassSpec& spec) const = 0;
  // For a node that is not admitted, in kube-scheduler's words ("node(s) had untolerated taint
  // {...}").
  [[nodiscard]] virtual std::string Reason(const ClusterState& state,
                                           const ClassSpec& spec,
                                           NodeId node) const = 0;
};

// Scores that depend on the class and on one node alone. `out[i]` belongs to `nodes[i]`; the
// plugin's weight is in it. For a class that asks for amounts alone (see DomainKinds) they change
// only with the amounts and the spec of the node, and so does what a NodeFilterPoint says.
class NodeScorePoint {
 public:
  virtual ~NodeScorePoint() = default;
  // False: it gives the class 0 everywhere, and need not be asked.
  [[nodiscard]] virtual bool ConcernsClass(const ClassSpec& /*spec*/) const { return true; }
  virtual void ScoreNodes(const ClusterState& state,
                          const ClassSpec& spec,
                          std::span<const NodeId> nodes,
                          std::span<Score> out) const = 0;
};

// Scores that are scaled over all nodes that take the task.
class ScaledScorePoint {
 public:
  virtual ~ScaledScorePoint() = default;
  // True when every node would get the same, so that the score can be left out of a choice.
  [[nodiscard]] virtual bool IsUniform(const ClusterState& state, const ClassSpec& spec) const = 0;
  virtual void ScoreFeasible(const ClusterState& state,
                             const ClassSpec& spec,
                             std::span<const NodeId> feasible,
                             std::span<Score> out) const = 0;
};

// Which nodes take a class in view of the pods on other nodes, after NodeFilterPoint and resources
// have let them pass. Asked only of classes that PeerCounts calls concerned.
class PeerFilterPoint {
 public:
  virtual ~PeerFilterPoint() = default;
  [[nodiscard]] virtual bool AdmitsPeer(const PeerCounts& peers, NodeId node) const = 0;
  // For a node that is not admitted, in kube-scheduler's words.
  [[nodiscard]] virtual std::string PeerReason(const PeerCounts& peers, NodeId node) const = 0;
};

// Scores by the pods on other nodes, scaled over all nodes that take the task.
class PeerScorePoint {
 public:
  virtual ~PeerScorePoint() = default;
  virtual void ScorePeers(const PeerCounts& peers,
                          std::span<const NodeId> feasible,
                          std::span<Score> out) const = 0;
};

// Scores that tell tasks of one class apart, by the tasks of their job that have a node. Asked anew
// for every task of the jobs it concerns.
class TaskScorePoint {
 public:
  virtual ~TaskScorePoint() = default;
  [[nodiscard]] virtual bool ScoresTasksOf(JobId job) const = 0;
  // REQUIRES: ScoresTasksOf the job of the task.
  virtual void ScoreForTask(const ClusterState& state,
                            TaskId task,
                            std::span<const NodeId> nodes,
                            std::span<Score> out) const = 0;
};

// The nodes of one chain are in the same HyperNodes, so what depends on HyperNodes is scored once
// per chain.
struct ChainGroup {
  ChainId chain;
  HyperNodeId leaf;            // lowest HyperNode of the chain
  std::uint32_t feasible = 0;  // nodes of the chain (in the domain searched) that take the task
  std::int32_t lca_tier =
      0;  // tier of the LCA of `leaf` and Placement::allocated; meaningless without the latter
  bool same_as_allocated = false;   // leaf == Placement::allocated
  std::uint32_t tasks_on_leaf = 0;  // tasks of the sub-job that have a node in `leaf`
  // What the HyperNodes of the lowest tiers come to, where SumTiers was asked, and which HyperNodes
  // there are above those: chains with the same ones have the same crown.
  struct Base {
    std::size_t tiers = 0;  // how many of tree.tiers() are in the sum
    double sum = 0;
    std::uint32_t crown = 0;

    friend auto operator<=>(const Base&, const Base&) = default;
  };
  std::optional<Base> base;
};

// The task about to be placed.
struct Placement {
  const Job* job = nullptr;
  const SubJob* sub_job = nullptr;
  const ClassSpec* spec = nullptr;
  HyperNodeId allocated;  // LCA of what the sub-job has so far; none for its first task
};

class ChainScorePoint {
 public:
  virtual ~ChainScorePoint() = default;
  // True when the score of a group follows from its fields other than `chain`, and from `leaf` only
  // whether that is the top. Groups that are alike in them are then scored as one, with `feasible`
  // their sum.
  [[nodiscard]] virtual bool ScoresByKind(const Placement& placement) const = 0;
  // True when the score of a group is a sum over the HyperNodes of its chain, from the lowest tier
  // to the top, so that a part of it can be kept (ChainGroup::base) while those do not change.
  [[nodiscard]] virtual bool SumsTiers(const Placement& /*placement*/) const { return false; }
  // What the HyperNodes of the lowest `tiers` tiers come to now, for each chain. REQUIRES:
  // SumsTiers.
  virtual void SumTiers(const ClusterState& /*state*/,
                        const Placement& /*placement*/,
                        std::size_t /*tiers*/,
                        std::span<const ChainId> /*chains*/,
                        std::span<double> /*out*/) const {}
  // `out[i]` belongs to `groups[i]`. Groups without feasible nodes may get anything.
  virtual void ScoreChains(const ClusterState& state,
                           const Placement& placement,
                           std::span<const ChainGroup> groups,
                           std::span<Score> out) const = 0;
};

// Which GPUs of its node a task gets. Asked only of classes and nodes that have any.
class DevicePoint {
 public:
  enum class When : std::uint8_t {
    kNow,
    kFuture
  };  // kFuture: what is being released counts as free

  virtual ~DevicePoint() = default;
  // REQUIRES: the node takes the class, now or in the future.
  [[nodiscard]] virtual GpuClaim Choose(const ClusterState& state,
                                        const ClassSpec& spec,
                                        NodeId node,
                                        When when) const = 0;
  // The claim in words, and the best that the node could have given when empty.
  [[nodiscard]] virtual DeviceRecord Describe(const ClusterState& state,
                                              const ClassSpec& spec,
                                              NodeId node,
                                              const GpuClaim& claim) const = 0;
};

// Where to look for a gang.
struct GradientQuery {
  HyperNodeId within;      // search at or below this
  HyperNodeId allocated;   // where the gang already runs, none if nowhere
  std::int32_t limit = 0;  // highest tier allowed
  const Resources* need = nullptr;
  bool explain = false;  // also fill Gradient::Tier::rejected
};

struct Gradient {
  struct Rejected {
    HyperNodeId hypernode;
    std::string reason;
  };
  struct Tier {
    std::int32_t tier = 0;
    std::vector<HyperNodeId> eligible;  // ascending by name
    std::vector<Rejected> rejected;     // ascending by name; only when asked for
  };
  HyperNodeId root;         // where the search began; none when there is no place to search
  std::vector<Tier> tiers;  // ascending
  std::string error;        // why there is no root
};

class GradientPoint {
 public:
  virtual ~GradientPoint() = default;
  [[nodiscard]] virtual Gradient Find(const ClusterState& state,
                                      const GradientQuery& query) const = 0;
  // The same about one HyperNode of a tier that is allowed. COST: O(resources).
  [[nodiscard]] virtual bool IsEligible(const ClusterState& state,
                                        const Resources& need,
                                        HyperNodeId hypernode) const = 0;
};

struct HyperNodeScoreQuery {
  const SubJob* sub_job = nullptr;
  const Resources* pending = nullptr;  // of all its pending tasks
  const Resources* need = nullptr;     // what its gang needs
};

class HyperNodeScorePoint {
 public:
  virtual ~HyperNodeScorePoint() = default;
  // True when the score of a HyperNode does not depend on which others are asked about with it.
  [[nodiscard]] virtual bool ScoresAlone(const HyperNodeScoreQuery& query) const = 0;
  virtual void ScoreHyperNodes(const ClusterState& state,
                               const HyperNodeScoreQuery& query,
                               std::span<const HyperNodeId> hypernodes,
                               std::span<Score> out) const = 0;
};

// True when all tasks of the sub-job are pending.
[[nodiscard]] bool HasNothingPlaced(const SubJob& sub_job);

// Tasks of the sub-job that have a node below `hypernode`.
[[nodiscard]] std::uint32_t TasksIn(const ClusterState& state,
                                    const SubJob& sub_job,
                                    HyperNodeId hypernode);

}  // namespace strata
