#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "sched/chain_board.h"
#include "sched/cluster_index.h"
#include "sched/domain_index.h"
#include "sched/obstacles.h"
#include "sched/rank_order.h"
#include "sched/session.h"

namespace strata {

// A gang first looks for room that is idle; only if there is none anywhere does it look for room
// that is being released.
enum class Pass : std::uint8_t { kReady, kWaiting };

struct PlaceRequest {
  JobId job;
  std::size_t sub_job = 0;
  std::span<const TaskId> tasks;     // pending, in task order
  const RankOrder* ranks = nullptr;  // of the job; REQUIRED for more than one task
  HyperNodeId domain;
  Pass pass = Pass::kReady;
  bool ask_quota = true;           // BestEffort tasks need none
  Obstacles* obstacles = nullptr;  // gets what was in the way of the last task that found no node
};

struct PlaceOutcome {
  bool ok =
      false;  // the sub-job became ready (in the second pass: or waits), and something was placed
  std::size_t placed = 0;  // also when it was not enough and was taken back
  std::size_t taken =
      0;  // tasks of the request that are used up: placed, or refused for this cycle
  std::optional<Refusal> quota;  // the queue's refusal, if that was in the way
};

// One row of scores per plugin, and their sum, over candidate nodes.
struct ScoreSheet {
  std::map<std::string, std::vector<Score>> by_plugin;
  std::vector<Score> total;

  explicit ScoreSheet(std::size_t nodes) : total(nodes, 0) {}
  void Add(const std::string& plugin, std::span<const Score> scores);
};

// One attempt to place the tasks of one sub-job inside one HyperNode: task by task in their order,
// each on the best node at that moment, until the sub-job is ready.
//
// The best node is the one with the highest total score; of equal ones a node under the leaf of the
// previous rank, then the lower name. Without a listener it is found through the index (the best of
// each chain, then the best chain, for a gang by kinds of chains); with one, or when scores are
// scaled over all nodes or tell tasks of one class apart, by scoring every node. All give the same
// answer (tests/property).
class Trial {
 public:
  // `kept` is the index to use when the domain is the whole cluster, else null.
  Trial(Session& session,
        const PlaceRequest& request,
        const DomainShape& shape,
        ClusterIndex* kept);

  // Leaves the placements in the state when ok, and no trace otherwise.
  [[nodiscard]] PlaceOutcome Run();

 private:
  struct Choice {
    std::size_t position = 0;  // in the domain
    bool idle = true;          // false: waits for what is being released
  };
  struct Indexed {
    std::unique_ptr<DomainIndex> index;
    std::size_t seen = 0;  // entries of changed_ that are in
  };
  struct Board {
    std::unique_ptr<ChainBoard> board;
    std::size_t seen = 0;  // entries of changed_ that are in
    HyperNodeId allocated;
    bool set = false;
  };
  // The best node so far of those offered.
  struct Best {
    std::optional<std::size_t> position;
    Score score = kNoScore;
  };

  enum class Attempt : std::uint8_t { kPlaced, kNoQuota, kNoNode, kPostponed };

  [[nodiscard]] Attempt Try(TaskId task, PlaceOutcome& outcome);
  // Tasks whose rules about other pods left them no node may find one beside pods placed after
  // them: again, until that changes nothing.
  void RetryPostponed(PlaceOutcome& outcome);
  [[nodiscard]] std::optional<Choice> Choose(TaskId task);
  // True when a plugin tells the tasks of one class apart.
  [[nodiscard]] bool IsScoredByTask() const;
  [[nodiscard]] std::optional<Choice> ChooseByIndex(TaskId task);
  [[nodiscard]] Best BestByChain(TaskId task, const DomainIndex& index);
  [[nodiscard]] Best BestByKind(TaskId task, const DomainIndex& index, ChainBoard& board);
  void Offer(Best& best, std::size_t position, Score score) const;
  [[nodiscard]] std::optional<Choice> ChooseBySweep(TaskId task);
  // Positions of the nodes that take the task, chain by chain; counts them in groups_.
  [[nodiscard]] std::vector<std::size_t> Collect(const std::function<bool(NodeId)>& takes);
  // REQUIRES: `nodes` are the nodes counted in groups_, in their order.
  [[nodiscard]] ScoreSheet ScoreAll(TaskId task, std::span<const NodeId> nodes, bool idle);
  void TraceChoice(TaskId task,
                   const ScoreSheet& sheet,
                   std::span<const NodeId> nodes,
                   NodeId chosen);
  [[nodiscard]] Placement PlacementOf(TaskId task) const;
  // Sums up the plugins' scores of `groups` into chain_scores_.
  void ScoreChains(TaskId task, std::span<const ChainGroup> groups);
  void Take(TaskId task, const Choice& choice);
  void Widen(HyperNodeId leaf);
  [[nodiscard]] bool Better(Score score,
                            std::size_t position,
                            Score best_score,
                            std::size_t best_position) const;
  void WaitAsOne(ClusterState::Savepoint begin);
  [[nodiscard]] bool KeepsGoing() const;
  [[nodiscard]] bool Succeeded() const;
  // The task of the job with a node that comes last before `task` in task order; none if there is
  // none.
  [[nodiscard]] TaskId RankBefore(TaskId task) const;
  [[nodiscard]] HyperNodeId LeafOf(NodeId node) const {
    return session_.tree().LeafOf(session_.tree().ChainOf(node));
  }
  std::vector<ChainGroup>& Groups();
  DomainIndex& IndexOf(ClassId class_id);
  ChainBoard& BoardOf(ClassId class_id, const DomainIndex& index);
  [[nodiscard]] std::span<const std::pair<HyperNodeId, std::size_t>> GroupsOf(HyperNodeId leaf);
  void CountTasksOnLeaves();
  void TraceRejections(TaskId task);

  Session& session_;
  const PlaceRequest& request_;
  const DomainShape& shape_;
  ClusterIndex* kept_;
  const Job& job_;
  const SubJob& sub_job_;

  HyperNodeId allocated_;           // LCA of what the sub-job holds so far
  HyperNodeId previous_leaf_;       // of the rank before the task at hand
  std::vector<ChainGroup> groups_;  // parallel to shape_.groups, once asked for
  std::vector<std::pair<HyperNodeId, std::size_t>> groups_of_leaf_;  // sorted, once asked for
  std::optional<HyperNodeId> asked_leaf_;  // of GroupsOf: most tasks go where the one before went
  std::span<const std::pair<HyperNodeId, std::size_t>> asked_groups_;
  std::vector<Score> chain_scores_;  // of the task at hand, all plugins
  std::vector<Score> scratch_;
  std::map<ClassId, Indexed> indexes_;
  std::map<ClassId, Board> boards_;
  std::vector<std::size_t> changed_;       // positions of nodes that this trial changed
  std::map<ClassId, std::size_t> failed_;  // classes without a node, and what was placed by then
  std::vector<TaskId> postponed_;          // tasks without a node that other pods may yet bring
  std::set<ClassId> traced_;               // classes whose rejections are recorded
};

}  // namespace strata
