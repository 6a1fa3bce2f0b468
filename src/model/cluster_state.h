#pragma once

#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "model/budget_table.h"
#include "model/class_table.h"
#include "model/hypernode_sums.h"
#include "model/hypernode_tree.h"
#include "model/journal.h"
#include "model/node_table.h"
#include "model/quota_table.h"
#include "model/resources.h"
#include "model/workload_table.h"

namespace strata {

// The cluster as the scheduler sees it, in rooms. Each room is a class with a contract of its own:
//
//   room       | holds                                              | changed by
//   -----------|----------------------------------------------------|---------------------------
//   nodes()    | nodes, and the amounts that tasks use of each      | node events, workload()
//   tree()     | HyperNodes, resolved against the nodes             | node and HyperNode events
//   sums()     | the same amounts per HyperNode                     | nodes(), tree(), workload()
//   classes()  | the classes that tasks come in                     | workload()
//   workload() | queues, jobs, tasks                                | nodes(), journal(), its own
//   quotas()   | ResourceQuotas                                     | its own events
//   budgets()  | PodDisruptionBudgets                               | its own events
//   journal()  | what this cycle decided, to take back or to commit | the cycle
//
// Events from outside come between cycles and cost what they change. Events that concern several
// rooms are functions of this class; all others are functions of their room. There is one writer
// and no lock.
//
// Sums are exact integers and cannot overflow. What nodes have, and what tasks use that had their
// node as they came, is limited so that both together stay within 64 bits; what a cycle places fits
// into what nodes have; what waits is summed up in 128 bits, or stops at the largest amount.
//
// Ids are small, stable while the object lives, and reused afterwards.
class ClusterState {
 public:
  ClusterState() = default;
  ~ClusterState() = default;
  // Rooms refer to each other, and views of schedulers point into them.
  ClusterState(const ClusterState&) = delete;
  ClusterState(ClusterState&&) = delete;
  ClusterState& operator=(const ClusterState&) = delete;
  ClusterState& operator=(ClusterState&&) = delete;

  [[nodiscard]] const NodeTable& nodes() const { return nodes_; }
  [[nodiscard]] const HyperNodeTree& tree() const { return tree_; }
  [[nodiscard]] const HyperNodeSums& sums() const { return sums_; }
  [[nodiscard]] const ClassTable& classes() const { return classes_; }
  [[nodiscard]] WorkloadTable& workload() { return workload_; }
  [[nodiscard]] const WorkloadTable& workload() const { return workload_; }
  [[nodiscard]] QuotaTable& quotas() { return quotas_; }
  [[nodiscard]] const QuotaTable& quotas() const { return quotas_; }
  [[nodiscard]] BudgetTable& budgets() { return budgets_; }
  [[nodiscard]] const BudgetTable& budgets() const { return budgets_; }
  [[nodiscard]] Journal& journal() { return journal_; }
  [[nodiscard]] const Journal& journal() const { return journal_; }

  // A caller that interns a name calls GrowTables before the next read.
  [[nodiscard]] ResourceNames& resource_names() { return resource_names_; }
  [[nodiscard]] const ResourceNames& resource_names() const { return resource_names_; }
  void GrowTables();
  // Forgets the names of absent resources that no task, job, queue or quota has any more, once
  // there are many. COST: nothing while there are few, else O(classes + jobs + queues + quotas).
  void ForgetAbsentNames();

  // Adds the node or replaces its spec; tasks on it stay. kInvalidArgument when the total of a
  // resource would overflow.
  Result<NodeId> UpsertNode(NodeSpec spec);
  // Its tasks stay, on no node, until they are removed or a node of its name is added.
  void RemoveNode(NodeId node);
  // Counts tasks that wait for shares of GPUs by the GPUs that nodes register now. To be called
  // after changes of nodes, before the state is read. COST: nothing when the GPUs are of the same
  // kinds as before, else O(tasks + nodes).
  void CountShares();
  void UpsertHyperNode(HyperNodeSpec spec);
  void RemoveHyperNode(std::string_view name);

 private:
  ResourceNames resource_names_;
  NodeTable nodes_{resource_names_};
  HyperNodeTree tree_;
  HyperNodeSums sums_{resource_names_, nodes_, tree_};
  ClassTable classes_;
  WorkloadTable workload_{resource_names_, nodes_, sums_, classes_};
  QuotaTable quotas_;
  BudgetTable budgets_;
  Journal journal_{workload_, nodes_, classes_, sums_};
};

}  // namespace strata
