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
#include "sched/gang_search.h"
#include "sched/peer_counts.h"
#include "sched/score.h"
#include "sched/trace.h"

// The extension points of the cycle. A plugin is one class that derives from Plugin and from the
// points it serves; the switches of its configuration say which of them are asked. Every method is
// a pure function: state in, answer out. PluginSet combines the answers of all plugins.
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

  // A cycle begins, at time `now`. `state` outlives the cycle.
  virtual void Open(const ClusterState& state, Time now) {
    static_cast<void>(state);
    static_cast<void>(now);
  }
  // True when its answers depend on the `now` of Open: with nothing else changed, a later cycle may
  // then decide otherwise, and the scheduler of a live cluster runs one while jobs wait.
  [[nodiscard]] virtual bool DependsOnTime() const { return false; }
  // Another number after an Open that changed scores of nodes that did not change themselves.
  [[nodiscard]] virtual std::uint64_t ScoresVersion() const { return 0; }
};

// Orders queues, jobs, sub-jobs and tasks. Negative: `a` comes first; positive: `b` does; 0: no
// preference.
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

// What pods request that a job may evict: it counts as free when the job wants to enter its queue.
struct Relief {
  Resources own_queue;  // of pods of its own queue
  Resources in_all;     // the same, and of pods of other queues

  [[nodiscard]] bool empty() const { return in_all.size() == 0; }
};

// The conditions that a job must meet to enter its queue and to start.
class JobGatePoint {
 public:
  virtual ~JobGatePoint() = default;
  // Why the job can never start as it is; none when it can. No switch turns this off.
  [[nodiscard]] virtual std::optional<Refusal> Invalid(const Job& job) const;
  // Whether the job may enter its queue (PodGroup phase Inqueue).
  [[nodiscard]] virtual Ballot Enqueueable(const Job& job) const;
  // The same if `relief` were free. By default it makes no difference.
  [[nodiscard]] virtual Ballot EnqueueableWith(const Job& job, const Relief& relief) const;
  // The job has entered its queue in this cycle.
  virtual void OnEnqueued(const Job& job);
  // Ready: enough tasks have a node to start. Pipelined: enough have a node or wait for one.
  [[nodiscard]] virtual bool Ready(const Job& job) const;
  [[nodiscard]] virtual Vote Pipelined(const Job& job) const;
};

// The same for one sub-job.
class SubJobGatePoint {
 public:
  virtual ~SubJobGatePoint() = default;
  [[nodiscard]] virtual bool SubJobReady(const Job& job, const SubJob& sub_job) const;
  [[nodiscard]] virtual Vote SubJobPipelined(const Job& job, const SubJob& sub_job) const;
};

// Whether a job lacks so much that pods of others may go for it.
class StarvingPoint {
 public:
  virtual ~StarvingPoint() = default;
  [[nodiscard]] virtual bool Starving(const Job& job) const = 0;
};

// How much a queue may use.
class QuotaPoint {
 public:
  // What a request is measured against: the share of the queue, which shrinks when other queues ask
  // for more; or the most that the queue may ever have.
  enum class Limit : std::uint8_t { kShare, kMax };

  virtual ~QuotaPoint() = default;
  // True when the queue gets nothing more in this cycle, except for incomplete gangs.
  [[nodiscard]] virtual bool Overused(QueueId queue) const;
  // Why the queue may not use `request` more now; none when it may.
  [[nodiscard]] virtual std::optional<Refusal> Exhausted(QueueId queue,
                                                         const Resources& request,
                                                         Limit limit) const;
};

// Which nodes take a class of tasks, resources aside. AdmitsSpec looks at the spec of the node
// alone and is cached until the spec changes; AdmitsNow looks at what runs there.
class NodeFilterPoint {
 public:
  virtual ~NodeFilterPoint() = default;
  // False when the filter admits the class on every node and need not be asked.
  [[nodiscard]] virtual bool ConcernsClass(const ClassSpec& /*spec*/) const { return true; }
  [[nodiscard]] virtual bool AdmitsSpec(const ClusterState& state,
                                        const ClassSpec& spec,
                                        NodeId node) const = 0;
  [[nodiscard]] virtual bool AdmitsNow(const ClusterState& state,
                                       const ClassSpec& spec,
                                       NodeId node) const = 0;
  // The same as AdmitsNow once everything that is being released there is gone.
  [[nodiscard]] virtual bool AdmitsFuture(const ClusterState& state,
                                          const ClassSpec& spec,
                                          NodeId node) const {
    return AdmitsNow(state, spec, node);
  }
  // How many tasks of the class it admits to the node one after the other, at most `max`. May
  // overestimate. REQUIRES: AdmitsNow.
  [[nodiscard]] virtual std::uint32_t Room(const ClusterState& /*state*/,
                                           const ClassSpec& /*spec*/,
                                           NodeId /*node*/,
                                           std::uint32_t max) const {
    return max;
  }
  // True when AdmitsInAll must be asked for the class.
  [[nodiscard]] virtual bool LooksBeyondNode(const ClassSpec& /*spec*/) const { return false; }
  // The part of the answer that depends on more than the node, and so is never cached. Not asked
  // after AdmitsFuture, which includes it. REQUIRES: AdmitsNow.
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

// Scores that depend on the class and on one node alone. `out[i]` belongs to `nodes[i]` and
// includes the plugin's weight. For a class that asks for amounts alone (see DomainKinds) scores
// (with ScoresByAmounts) and NodeFilterPoint answers change only with the amounts and the spec of
// the node.
class NodeScorePoint {
 public:
  virtual ~NodeScorePoint() = default;
  // False when every node gets 0 for the class and the plugin need not be asked.
  [[nodiscard]] virtual bool ConcernsClass(const ClassSpec& /*spec*/) const { return true; }
  // False when nodes with the same amounts and specs may have different scores, by what runs there.
  [[nodiscard]] virtual bool ScoresByAmounts() const { return true; }
  virtual void ScoreNodes(const ClusterState& state,
                          const ClassSpec& spec,
                          std::span<const NodeId> nodes,
                          std::span<Score> out) const = 0;
};

// Scores that are scaled over all nodes that take the task.
class ScaledScorePoint {
 public:
  virtual ~ScaledScorePoint() = default;
  // True when every node would get the same score, so that it does not influence the choice.
  [[nodiscard]] virtual bool IsUniform(const ClusterState& state, const ClassSpec& spec) const = 0;
  virtual void ScoreFeasible(const ClusterState& state,
                             const ClassSpec& spec,
                             std::span<const NodeId> feasible,
                             std::span<Score> out) const = 0;
};

// Which nodes take a class in view of the pods on other nodes. Asked after NodeFilterPoint and
// resources admitted the node, and only for classes that PeerCounts calls concerned.
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

// Scores that differ between tasks of one class, by the tasks of their job that have a node. Asked
// again for every task of the jobs it concerns.
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
  std::int32_t lca_tier = 0;  // tier of the LCA of `leaf` and Placement::allocated, if there is one
  bool same_as_allocated = false;   // leaf == Placement::allocated
  std::uint32_t tasks_on_leaf = 0;  // tasks of the sub-job that have a node in `leaf`
  // Where SumTiers was asked: the sum over the HyperNodes of the lowest tiers, and the crown, a
  // number for the HyperNodes above them. Chains with the same HyperNodes there share it.
  struct Base {
    std::size_t tiers = 0;  // how many of tree.tiers() are in the sum
    double sum = 0;
    std::uint32_t crown = 0;

    friend auto operator<=>(const Base&, const Base&) = default;
  };
  std::optional<Base> base;
};

// What is about to be placed.
struct Placement {
  const Job* job = nullptr;
  const SubJob* sub_job = nullptr;
  const ClassSpec* spec = nullptr;
  HyperNodeId allocated;  // LCA of what the sub-job has so far; none for its first task
};

class ChainScorePoint {
 public:
  virtual ~ChainScorePoint() = default;
  // True when the score of a group depends on its fields alone, but neither on `chain` nor on
  // `leaf` (except on whether that is the top). Groups with equal fields are then scored as one
  // kind, with `feasible` their sum.
  [[nodiscard]] virtual bool ScoresByKind(const Placement& placement) const = 0;
  // True when the score of a group is a sum over the HyperNodes of its chain from the lowest tier
  // to the top, so that a part of the sum can be kept (ChainGroup::base) while these do not change.
  [[nodiscard]] virtual bool SumsTiers(const Placement& /*placement*/) const { return false; }
  // For each chain the sum over its HyperNodes in the lowest `tiers` tiers now. REQUIRES:
  // SumsTiers.
  virtual void SumTiers(const ClusterState& /*state*/,
                        const Placement& /*placement*/,
                        std::size_t /*tiers*/,
                        std::span<const ChainId> /*chains*/,
                        std::span<double> /*out*/) const {}
  // `out[i]` belongs to `groups[i]`; it is ignored for a group without feasible nodes.
  virtual void ScoreChains(const ClusterState& state,
                           const Placement& placement,
                           std::span<const ChainGroup> groups,
                           std::span<Score> out) const = 0;
};

// Which GPUs of its node a task gets. Asked only for classes that request GPUs and nodes that have
// some.
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

// Where to search for a gang.
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
  // By default the search is greedy.
  [[nodiscard]] virtual GangSearchSettings GangSearch() const { return {}; }
};

struct HyperNodeScoreQuery {
  const SubJob* sub_job = nullptr;
  // As they count for queues (Need).
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

// True when every task of the sub-job is pending.
[[nodiscard]] bool HasNothingPlaced(const SubJob& sub_job);

// Tasks of the sub-job that have a node below `hypernode`.
[[nodiscard]] std::uint32_t TasksIn(const ClusterState& state,
                                    const SubJob& sub_job,
                                    HyperNodeId hypernode);

}  // namespace strata
