#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "replay/formats/table.h"
#include "replay/policies/cells.h"
#include "replay/policies/policy.h"
#include "replay/policies/trial.h"

namespace strata::replay {
namespace {

// How a cluster is cut into cells.
struct Shape {
  std::vector<NodeIndex> nodes;  // by number in the pool: leaf after leaf
  std::uint32_t leaves = 0;
  std::uint32_t nodes_per_leaf = 1;
  std::int32_t gpus = 0;

  [[nodiscard]] CellPool MakePool() const { return {leaves, nodes_per_leaf, gpus}; }
};

// Where leaves differ in size, or some nodes are in none, each node is a leaf of its own.
Result<Shape> ShapeOf(const Fabric& fabric) {
  Shape shape;
  for (const Fabric::Node& node : fabric.nodes) {
    if (shape.gpus == 0) shape.gpus = node.gpus;
    if (node.gpus != shape.gpus || node.gpus <= 0 ||
        !std::has_single_bit(static_cast<std::uint32_t>(node.gpus))) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("rule:buddy: node {} has {} GPUs: want 1, 2, 4, 8 ... on all nodes "
                              "alike",
                              node.name,
                              node.gpus));
    }
  }
  std::map<DomainIndex, std::vector<NodeIndex>> leaves;
  for (NodeIndex node = 0; node < fabric.nodes.size(); ++node) {
    const bool has_leaf = !fabric.levels.empty();
    leaves[has_leaf ? fabric.levels.front().of_node[node] : node].push_back(node);
  }
  bool equal = !leaves.contains(Fabric::kNoDomain);
  for (const auto& [leaf, nodes] : leaves) {
    equal = equal && nodes.size() == leaves.begin()->second.size();
    shape.nodes.insert(shape.nodes.end(), nodes.begin(), nodes.end());
  }
  shape.leaves = static_cast<std::uint32_t>(equal ? leaves.size() : shape.nodes.size());
  shape.nodes_per_leaf = static_cast<std::uint32_t>(shape.nodes.size()) / shape.leaves;
  return shape;
}

bool Anywhere(std::uint32_t /*node*/) {
  return true;
}

// A cell that a queue owns. As long as something runs in it, it is one certain cell of the cluster.
struct OwnedCell {
  CellLevel level = 0;
  CellPool inside;  // a leaf of as many nodes, or one node of as many GPUs, as the cell has
  std::optional<Cell> bound = {};
  std::int32_t users = 0;
};

// What a pod holds.
struct Holding {
  Cell cell;                              // of the cluster
  std::optional<std::size_t> owned = {};  // which cell of its queue
  Cell inside = {};                       // its cell in that one
};

struct Tenant {
  std::vector<OwnedCell> cells;  // smaller ones first
  std::int64_t gpus = 0;         // that it may hold, by count
  std::int64_t held = 0;
};

class BuddyPolicy final : public Policy {
 public:
  BuddyPolicy(const Workload& workload, Shape shape)
      : workload_(workload), shape_(std::move(shape)), pool_(shape_.MakePool()) {}

  Status AddTenants(const std::vector<TenantCells>& tenants, TenantQuota quota) {
    quota_ = tenants.empty() ? std::nullopt : std::optional(quota);
    CellPool all = shape_.MakePool();
    std::vector<TenantCells> sorted = tenants;
    // The cluster can give all of them at a time if it can give the large ones first.
    std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      return LevelOf(a) > LevelOf(b);
    });
    for (const TenantCells& one : sorted) {
      if (one.gpus > shape_.gpus) {
        return Fail(Code::kInvalidArgument,
                    fmt::format("queue {}: cells of {} GPUs: a node has {}; want leaf for more",
                                one.queue,
                                one.gpus,
                                shape_.gpus));
      }
      for (std::int32_t i = 0; i < one.count; ++i) {
        if (!all.Take(LevelOf(one), Anywhere)) {
          return Fail(Code::kInvalidArgument,
                      fmt::format("the cells of all queues are more than the cluster has: queue {}",
                                  one.queue));
        }
        AddCell(one);
      }
    }
    for (auto& [queue, tenant] : tenants_) std::reverse(tenant.cells.begin(), tenant.cells.end());
    return CheckJobs();
  }

  std::vector<NodeIndex> Place(const PlaceJob& job, Room& room) override {
    const JobClass& wanted = *job.job_class;
    if (wanted.wish != Wish::kHard || wanted.max_level >= room.levels()) {
      return PlaceWithin(job, room, Anywhere);
    }
    for (const DomainIndex domain : DomainsThatHold(wanted, room, wanted.max_level)) {
      auto nodes = PlaceWithin(job, room, [&](std::uint32_t number) {
        return room.DomainOf(wanted.max_level, shape_.nodes[number]) == domain;
      });
      if (!nodes.empty()) return nodes;
    }
    return {};
  }

  void End(std::uint32_t job) override {
    const auto found = holdings_.find(job);
    CHECK(found != holdings_.end());
    Tenant& tenant = tenants_[QueueOf(job)];
    for (const Holding& holding : found->second) GiveBack(tenant, holding);
    tenant.held -= GpusOf(job);
    holdings_.erase(found);
  }

 private:
  [[nodiscard]] CellLevel LevelOf(const TenantCells& cells) const {
    return cells.gpus == TenantCells::kLeaf ? pool_.LeafLevel() : pool_.LevelFor(cells.gpus);
  }
  [[nodiscard]] const JobClass& ClassOf(std::uint32_t job) const {
    return workload_.classes[workload_.jobs[job].job_class];
  }
  [[nodiscard]] const std::string& QueueOf(std::uint32_t job) const { return ClassOf(job).queue; }
  [[nodiscard]] std::int64_t GpusOf(std::uint32_t job) const { return ClassOf(job).TotalGpus(); }

  void AddCell(const TenantCells& one) {
    const CellLevel level = LevelOf(one);
    const bool leaf = level == pool_.LeafLevel();
    const std::uint32_t nodes = leaf ? shape_.nodes_per_leaf : 1;
    const std::int32_t gpus = leaf ? shape_.gpus : 1 << level;
    Tenant& tenant = tenants_[one.queue];
    tenant.gpus += std::int64_t{gpus} * nodes;
    tenant.cells.push_back({.level = level, .inside = CellPool(1, nodes, gpus)});
  }

  // A job that its queue has no cells for would wait for ever.
  Status CheckJobs() {
    if (!quota_) return {};
    for (std::size_t i = 0; i < workload_.classes.size(); ++i) {
      const JobClass& one = workload_.classes[i];
      if (workload_.fewest_leaves[i] == 0) continue;  // nobody asks for a place for these
      Tenant empty = tenants_[one.queue];
      bool fits = one.TotalGpus() <= empty.gpus;
      for (std::int32_t rank = 0; fits && *quota_ == TenantQuota::kCells && rank < one.pods;
           ++rank) {
        const std::int32_t gpus = one.ShapeOf(rank).gpus;
        fits = gpus == 0 || TakeInside(empty, pool_.LevelFor(gpus)).has_value();
      }
      if (!fits) {
        return Fail(Code::kInvalidArgument,
                    fmt::format("queue {}: its cells are too small for a job of {} GPUs in {} pods",
                                one.queue,
                                one.TotalGpus(),
                                one.pods));
      }
    }
    return {};
  }

  // Room in the cells of the queue: which of them, and where in it. Cells in use come first.
  struct Inside {
    std::size_t owned = 0;
    Cell cell;
  };
  static std::optional<Inside> TakeInside(Tenant& tenant, CellLevel level) {
    std::optional<std::size_t> best;
    const auto key = [&](std::size_t i) {
      const OwnedCell& cell = tenant.cells[i];
      return std::pair(cell.inside.Smallest(level, Anywhere), cell.users == 0);
    };
    for (std::size_t i = 0; i < tenant.cells.size(); ++i) {
      if (tenant.cells[i].level < level || !key(i).first) continue;
      if (!best || key(i) < key(*best)) best = i;
    }
    if (!best) return std::nullopt;
    return Inside{.owned = *best, .cell = *tenant.cells[*best].inside.Take(level, Anywhere)};
  }

  std::optional<Holding> TakeCell(Tenant& tenant,
                                  std::int32_t gpus,
                                  const CellPool::Allowed& allowed) {
    const CellLevel level = pool_.LevelFor(gpus);
    if (quota_ != TenantQuota::kCells) {
      const auto cell = pool_.Take(level, allowed);
      return cell ? std::optional(Holding{.cell = *cell}) : std::nullopt;
    }
    const auto inside = TakeInside(tenant, level);
    if (!inside) return std::nullopt;
    OwnedCell& owned = tenant.cells[inside->owned];
    if (!owned.bound) owned.bound = pool_.Take(owned.level, allowed);
    if (!owned.bound || !allowed(owned.bound->node)) {
      if (owned.bound && owned.users == 0) Unbind(owned);
      owned.inside.Give(inside->cell);
      return std::nullopt;
    }
    ++owned.users;
    const Cell cell{.level = level,
                    .node = owned.bound->node + inside->cell.node,
                    .gpu = owned.bound->gpu + inside->cell.gpu};
    return Holding{.cell = cell, .owned = inside->owned, .inside = inside->cell};
  }

  void Unbind(OwnedCell& owned) {
    pool_.Give(*owned.bound);
    owned.bound.reset();
  }

  void GiveBack(Tenant& tenant, const Holding& holding) {
    if (!holding.owned) {
      pool_.Give(holding.cell);
      return;
    }
    OwnedCell& owned = tenant.cells[*holding.owned];
    owned.inside.Give(holding.inside);
    if (--owned.users == 0) Unbind(owned);
  }

  std::vector<NodeIndex> PlaceWithin(const PlaceJob& job,
                                     Room& room,
                                     const CellPool::Allowed& allowed) {
    const JobClass& wanted = *job.job_class;
    Tenant& tenant = tenants_[wanted.queue];
    if (quota_ == TenantQuota::kCounts && tenant.held + wanted.TotalGpus() > tenant.gpus) return {};
    const bool owns = quota_ == TenantQuota::kCells;
    std::vector<Holding> holdings;
    GangTrial trial(wanted, room);
    while (!trial.Done()) {
      const CellPool::Allowed usable = [&](std::uint32_t number) {
        return allowed(number) && trial.Fits(shape_.nodes[number]);
      };
      if (trial.Next().gpus == 0) {
        const auto node = AnyNode(usable);
        if (!node) break;
        trial.Put(*node);
        continue;
      }
      const auto holding = TakeCell(tenant, trial.Next().gpus, owns ? allowed : usable);
      if (!holding) break;
      holdings.push_back(*holding);
      if (!usable(holding->cell.node)) break;
      trial.Put(shape_.nodes[holding->cell.node]);
    }
    std::vector<NodeIndex> nodes = trial.Nodes();
    if (nodes.empty()) {
      for (const Holding& holding : holdings) GiveBack(tenant, holding);
      return {};
    }
    tenant.held += wanted.TotalGpus();
    holdings_[job.job] = std::move(holdings);
    return nodes;
  }

  // For a pod without GPUs: it needs no cell.
  [[nodiscard]] std::optional<NodeIndex> AnyNode(const CellPool::Allowed& usable) const {
    for (std::uint32_t number = 0; number < shape_.nodes.size(); ++number) {
      if (usable(number)) return shape_.nodes[number];
    }
    return std::nullopt;
  }

  const Workload& workload_;
  Shape shape_;
  CellPool pool_;
  std::optional<TenantQuota> quota_;                        // none: cells are nobody's
  std::map<std::string, Tenant> tenants_;                   // by queue
  std::map<std::uint32_t, std::vector<Holding>> holdings_;  // by job, while it runs
};

}  // namespace

Result<std::vector<TenantCells>> ReadTenants(std::string_view path, std::string_view text) {
  TRY_ASSIGN(Table table, Table::Open(path, text));
  for (const char* column : {"queue", "gpus", "cells"}) {
    if (!table.Has(column)) return table.Bad(column, "missing from the header (queue,gpus,cells)");
  }
  std::vector<TenantCells> tenants;
  while (true) {
    TRY_ASSIGN(const bool more, table.Next());
    if (!more) return tenants;
    TenantCells& one = tenants.emplace_back();
    one.queue = table.Text("queue");
    if (one.queue.empty()) return table.Want("queue", "a name");
    constexpr std::int32_t kMaxCells = 1'000'000;
    TRY_ASSIGN(one.count, table.Count("cells", 1));
    if (one.count > kMaxCells) return table.Want("cells", "at most 1000000 cells");
    one.gpus = TenantCells::kLeaf;
    if (table.Text("gpus") == "leaf") continue;
    TRY_ASSIGN(one.gpus, table.Count("gpus", 1));
    if (!std::has_single_bit(static_cast<std::uint32_t>(one.gpus))) {
      return table.Want("gpus", "leaf, or 1, 2, 4, 8 ... GPUs");
    }
  }
}

Result<std::unique_ptr<Policy>> MakeBuddy(const Workload& workload,
                                          const Fabric& fabric,
                                          const std::vector<TenantCells>& tenants,
                                          TenantQuota quota) {
  TRY_ASSIGN(Shape shape, ShapeOf(fabric));
  auto policy = std::make_unique<BuddyPolicy>(workload, std::move(shape));
  TRY(policy->AddTenants(tenants, quota));
  return Result<std::unique_ptr<Policy>>(std::move(policy));
}

}  // namespace strata::replay
