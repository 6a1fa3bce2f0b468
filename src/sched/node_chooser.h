#pragma once

#include <cstddef>
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
#include "sched/place_request.h"
#include "sched/session.h"

namespace strata {

// One row of scores per plugin, and their sum, over candidate nodes.
struct ScoreSheet {
  std::map<std::string, std::vector<Score>> by_plugin;
  std::vector<Score> total;

  explicit ScoreSheet(std::size_t nodes) : total(nodes, 0) {}
  void Add(const std::string& plugin, std::span<const Score> scores);
};

// Chooses the best node of a HyperNode for one task after another of a PlaceRequest: the highest
// total score, then a node in the leaf HyperNode of the previous rank, then the lower name.
//
// There are two ways to the same answer (tests/property). The index keeps the best node of every
// chain, and for a gang the best chain of every kind. The sweep scores every node; it is needed for
// a listener that wants all scores, and for scores that are scaled over all nodes or differ between
// tasks of one class.
class NodeChooser {
 public:
  struct Choice {
    std::size_t position = 0;  // in the nodes of the shape
    bool idle = true;          // false: the task waits there for resources being released
  };

  // `kept` is the index to use when the domain is the whole cluster, else null. REQUIRES: all of
  // them outlive it.
  NodeChooser(Session& session,
              const PlaceRequest& request,
              const DomainShape& shape,
              ClusterIndex* kept);

  // None when no node takes the task.
  [[nodiscard]] std::optional<Choice> Choose(TaskId task);
  // To be called when a task was placed as chosen.
  void OnPlaced(const Choice& choice);
  // How many leaves got their first task of the sub-job; 0 for a sub-job without topology.
  [[nodiscard]] std::size_t leaves() const { return leaves_; }
  // True when the tasks, in the order they were placed, and the first one again behind the last,
  // change to each of these leaves once.
  [[nodiscard]] bool EntersLeavesOnce() const {
    return leaves_ > 0 && entries_ - (entries_ > 1 && first_leaf_ == last_leaf_ ? 1 : 0) <= leaves_;
  }

 private:
  struct Indexed {
    std::unique_ptr<DomainIndex> index;
    std::size_t seen = 0;  // entries of changed_ that are included
  };
  struct Board {
    std::unique_ptr<ChainBoard> board;
    std::size_t seen = 0;  // entries of changed_ that are included
    HyperNodeId allocated;
    bool set = false;
  };
  // The best node so far of those offered.
  struct Best {
    std::optional<std::size_t> position;
    Score score = kNoScore;
  };

  // ---- by index (node_chooser.cc)
  using ClassStart = std::pair<ClassId, DomainIndex::Start>;
  [[nodiscard]] std::optional<Choice> ChooseByIndex(TaskId task, DomainIndex::Start start);
  [[nodiscard]] Best BestByChain(TaskId task, const DomainIndex& index);
  [[nodiscard]] Best BestByKind(TaskId task, const DomainIndex& index, ChainBoard& board);
  void Offer(Best& best, std::size_t position, Score score) const;
  DomainIndex& IndexOf(const ClassStart& key);
  ChainBoard& BoardOf(const ClassStart& key, const DomainIndex& index);
  // Sums up the plugins' scores of `groups` into chain_scores_.
  void ScoreChains(TaskId task, std::span<const ChainGroup> groups);

  // ---- by sweep (node_chooser_sweep.cc)
  [[nodiscard]] std::optional<Choice> ChooseBySweep(TaskId task);
  // Positions of the nodes that take the task, chain by chain; counts them in groups_.
  [[nodiscard]] std::vector<std::size_t> Collect(const std::function<bool(NodeId)>& takes);
  // REQUIRES: `nodes` are the nodes counted in groups_, in their order.
  [[nodiscard]] ScoreSheet ScoreAll(TaskId task, std::span<const NodeId> nodes, bool idle);
  void TraceChoice(TaskId task,
                   const ScoreSheet& sheet,
                   std::span<const NodeId> nodes,
                   NodeId chosen);
  void TraceRejections(TaskId task);

  // ---- both
  [[nodiscard]] bool Better(Score score,
                            std::size_t position,
                            Score best_score,
                            std::size_t best_position) const;
  [[nodiscard]] Placement PlacementOf(TaskId task) const;
  // The task of the job with a node that comes last before `task` in task order; none if there is
  // none.
  [[nodiscard]] TaskId RankBefore(TaskId task) const;
  [[nodiscard]] HyperNodeId LeafOf(NodeId node) const {
    return session_.tree().LeafOf(session_.tree().ChainOf(node));
  }
  std::vector<ChainGroup>& Groups();
  [[nodiscard]] std::span<const std::pair<HyperNodeId, std::size_t>> GroupsOf(HyperNodeId leaf);
  void CountTasksOnLeaves();
  // The sub-job now also has tasks in `leaf`: raises allocated_ to the LCA of both.
  void RaiseAllocated(HyperNodeId leaf);

  Session& session_;
  const PlaceRequest& request_;
  const DomainShape& shape_;
  ClusterIndex* kept_;
  const Job& job_;
  const SubJob& sub_job_;

  HyperNodeId allocated_;           // LCA of what the sub-job holds so far
  HyperNodeId previous_leaf_;       // of the rank before the task at hand
  std::vector<ChainGroup> groups_;  // parallel to shape_.groups; made when first needed
  std::vector<std::pair<HyperNodeId, std::size_t>> groups_of_leaf_;  // sorted; likewise
  std::optional<HyperNodeId>
      asked_leaf_;  // of GroupsOf: most tasks ask for the previous leaf again
  std::span<const std::pair<HyperNodeId, std::size_t>> asked_groups_;
  std::vector<Score> chain_scores_;  // of the task at hand, all plugins
  std::vector<Score> scratch_;
  std::map<ClassStart, Indexed> indexes_;
  std::map<ClassStart, Board> boards_;
  std::vector<std::size_t> changed_;  // positions of nodes that got a task
  std::set<ClassId> traced_;          // classes whose rejections are recorded
  std::size_t leaves_ = 0;
  std::size_t entries_ = 0;  // tasks placed in another leaf than the previous one
  HyperNodeId first_leaf_;   // of what was placed
  HyperNodeId last_leaf_;
};

}  // namespace strata
