#include "tests/property/eviction_oracle.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

namespace strata::testing {
namespace {

constexpr int kTierOfAll = 3;

// One way in which a job may lose pods.
struct Way {
  std::vector<TaskId> pods;
  bool gang = false;
};

// The sum of what goes, before it is put into the order of a gang.
struct Bill {
  std::int64_t gangs = 0, pods = 0, lost = 0, grace = 0;
  std::map<int, std::pair<std::int64_t, std::int64_t>, std::greater<>> levels;

  void Add(const ClusterState& state, JobId job, const Way& way) {
    const int priority = state.workload().job(job).spec.priority;
    for (const TaskId id : way.pods) {
      const Task& task = state.workload().task(id);
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(
          CrowdNow() - Time(task.disruption.runs_since));
      ++pods;
      lost += seconds.count() * state.classes().spec(task.class_id).request.Get(kCpu) / 1000;
      grace = std::max<std::int64_t>(grace, task.disruption.grace_seconds);
      if (!way.gang) ++levels[priority].second;
    }
    if (!way.gang) return;
    ++gangs;
    ++levels[priority].first;
  }
  [[nodiscard]] PlanCost For(const CrowdGang& gang, int tier) const {
    PlanCost cost;
    cost.gangs = gangs;
    for (const auto& [priority, count] : levels) {
      cost.levels.emplace_back(priority, count.first, count.second);
    }
    const bool soft = CrowdTopology(gang).mode == TopologySpec::Mode::kSoft;
    cost.rest = {soft ? tier : pods, soft ? pods : tier, lost, grace};
    return cost;
  }
};

bool MustStay(const ClusterState& state, TaskId id) {
  const Task& task = state.workload().task(id);
  const Disruption& disruption = task.disruption;
  return !disruption.preemptable || disruption.critical ||
         state.workload().job(task.job).spec.preemptable == false ||
         Time(disruption.runs_since) + std::chrono::seconds(disruption.cooldown_seconds) >
             CrowdNow();
}

bool IsWhole(const ClusterState& state, const Job& job, const std::vector<TaskId>& pods) {
  if (static_cast<std::int32_t>(pods.size()) < job.spec.min_available) return false;
  for (const auto& [role, minimum] : job.spec.min_task_member) {
    if (minimum > job.spec.min_available) continue;  // then roles do not bind
    const auto there = std::count_if(pods.begin(), pods.end(), [&, name = role](TaskId id) {
      return job.roles[state.workload().task(id).role].name == name;
    });
    if (there < minimum) return false;
  }
  return true;
}

// Every way in which the job may lose pods, and to lose none.
std::vector<Way> WaysOf(const ClusterState& state, JobId id, bool may_break) {
  const Job& job = state.workload().job(id);
  std::vector<TaskId> pods;
  for (const SubJob& sub_job : job.sub_jobs) {
    for (const TaskId task : sub_job.tasks) {
      if (state.workload().task(task).status == TaskStatus::kRunning) pods.push_back(task);
    }
  }
  std::vector<Way> ways = {{}};
  for (unsigned mask = 1; mask < (1U << pods.size()); ++mask) {
    Way way;
    std::vector<TaskId> left;
    for (std::size_t i = 0; i < pods.size(); ++i) {
      ((mask >> i & 1U) != 0 ? way.pods : left).push_back(pods[i]);
    }
    const bool free = std::none_of(
        way.pods.begin(), way.pods.end(), [&](TaskId task) { return MustStay(state, task); });
    if (!free) continue;
    if (IsWhole(state, job, pods) && IsWhole(state, job, left)) {
      ways.push_back(way);
    } else if (left.empty() && may_break) {
      way.gang = true;
      ways.push_back(way);
    }
  }
  return ways;
}

// One way for each job, and the next such combination.
struct Choices {
  std::vector<std::pair<JobId, std::vector<Way>>> jobs;
  std::vector<std::size_t> at;  // by job

  // What goes, and how many thousandths of a core that frees on each node.
  [[nodiscard]] std::pair<Bill, std::map<NodeId, Amount>> Look(const ClusterState& state) const {
    Bill bill;
    std::map<NodeId, Amount> freed;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const Way& way = jobs[i].second[at[i]];
      if (way.pods.empty()) continue;
      bill.Add(state, jobs[i].first, way);
      for (const TaskId id : way.pods) {
        const Task& task = state.workload().task(id);
        freed[task.node] += state.classes().spec(task.class_id).request.Get(kCpu);
      }
    }
    return {bill, freed};
  }
  // False when all combinations have been seen.
  bool Next() {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (++at[i] < jobs[i].second.size()) return true;
      at[i] = 0;
    }
    return false;
  }
};

struct Domain {
  int tier = kTierOfAll;
  std::vector<NodeId> nodes;
};

std::vector<Domain> DomainsOf(const ClusterState& state, const CrowdGang& gang) {
  const auto all = state.nodes().all();
  const Domain everything{.tier = kTierOfAll, .nodes = {all.begin(), all.end()}};
  const TopologySpec topology = CrowdTopology(gang);
  if (!topology.present()) return {everything};
  std::vector<Domain> domains;
  for (const char* name : {"s0", "s1", "s2"}) {
    const auto id = state.tree().Find(name);
    if (!id) continue;
    const int tier = state.tree().at(*id).tier;
    if (topology.highest_tier && tier > *topology.highest_tier) continue;
    const auto nodes = state.tree().NodesOf(*id);
    domains.push_back({.tier = tier, .nodes = {nodes.begin(), nodes.end()}});
  }
  if (topology.mode == TopologySpec::Mode::kSoft) domains.push_back(everything);
  return domains;
}

bool Holds(const ClusterState& state,
           const Domain& domain,
           const std::map<NodeId, Amount>& freed,
           Amount cores,
           std::int64_t wanted) {
  std::int64_t slots = 0;
  for (const NodeId node : domain.nodes) {
    const auto it = freed.find(node);
    const Amount more = it == freed.end() ? 0 : it->second;
    slots += (state.nodes().Idle(node)[kCpu.index()] + more) / (cores * 1000);
  }
  return slots >= wanted;
}

// What queues have and may have, in thousandths of a core.
struct Part {
  Amount has = 0, deserved = 0, guarantee = 0;
};

Part PartOf(const ClusterState& state, QueueId id) {
  const QueueSpec& spec = state.workload().queue(id).spec;
  Part part;
  for (const TaskId task : state.workload().AllTasks()) {
    const Task& one = state.workload().task(task);
    if (one.status != TaskStatus::kRunning || state.workload().job(one.job).queue != id) continue;
    part.has += state.classes().spec(one.class_id).request.Get(kCpu);
  }
  Amount limit = 0;  // what there is, less what others are guaranteed
  for (const NodeId node : state.nodes().all()) {
    limit += state.nodes().Allocatable(node)[kCpu.index()];
  }
  for (const QueueId other : state.workload().queues()) {
    if (other != id) limit -= state.workload().queue(other).spec.guarantee.Get(kCpu);
  }
  part.guarantee = spec.guarantee.Get(kCpu);
  const auto deserved = spec.deserved.find(kCpu);
  if (deserved != spec.deserved.end()) part.deserved = deserved->second;
  part.deserved = std::max(std::min(part.deserved, std::max<Amount>(limit, 0)), part.guarantee);
  return part;
}

// A queue reclaims up to what it deserves.
bool IsEntitled(const ClusterState& state, const Job& claimant, const CrowdGang& gang) {
  const Part part = PartOf(state, claimant.queue);
  const Amount need = claimant.spec.min_available * CrowdCores(gang.size) * 1000;
  return part.has + need <= part.deserved;
}

// Surplus takes a queue down to what it deserves; then gangs go while it has more than that, the
// largest last, so that as many as possible may go.
bool QueuesAllow(const ClusterState& state, const Choices& choices) {
  struct Loss {
    Amount surplus = 0, gangs = 0, largest = 0;
  };
  std::map<QueueId, Loss> losses;
  for (std::size_t i = 0; i < choices.jobs.size(); ++i) {
    const Way& way = choices.jobs[i].second[choices.at[i]];
    if (way.pods.empty()) continue;
    Amount amount = 0;
    for (const TaskId id : way.pods) {
      amount += state.classes().spec(state.workload().task(id).class_id).request.Get(kCpu);
    }
    Loss& loss = losses[state.workload().job(choices.jobs[i].first).queue];
    (way.gang ? loss.gangs : loss.surplus) += amount;
    if (way.gang) loss.largest = std::max(loss.largest, amount);
  }
  return std::all_of(losses.begin(), losses.end(), [&](const auto& entry) {
    const Part part = PartOf(state, entry.first);
    const Loss& loss = entry.second;
    if (part.has - loss.surplus - loss.gangs < part.guarantee) return false;
    if (loss.surplus > 0 && part.has - loss.surplus < part.deserved) return false;
    return loss.gangs == 0 || part.has - loss.surplus - (loss.gangs - loss.largest) > part.deserved;
  });
}

}  // namespace

std::ostream& operator<<(std::ostream& os, const PlanCost& cost) {
  os << "gangs " << cost.gangs << " levels";
  for (const auto& [priority, gangs, surplus] : cost.levels) {
    os << " {" << priority << ": " << gangs << ", " << surplus << '}';
  }
  os << " rest";
  for (const std::int64_t number : cost.rest) os << ' ' << number;
  return os;
}

std::optional<PlanCost> CheapestPlan(const ClusterBuilder& cluster,
                                     const CrowdGang& gang,
                                     const std::string& action) {
  const ClusterState& state = cluster.state;
  const Job& claimant = cluster.JobNamed("g0");
  const bool may_break_gangs = action.starts_with("gang");
  const bool reclaims = action.ends_with("reclaim");
  if (reclaims && !IsEntitled(state, claimant, gang)) return std::nullopt;
  Choices choices;
  for (const JobId id : state.workload().jobs()) {
    const Job& job = state.workload().job(id);
    const bool same_queue = job.spec.queue == claimant.spec.queue;
    const bool in_scope = reclaims
                              ? !same_queue && state.workload().queue(job.queue).spec.reclaimable
                              : same_queue && job.spec.priority < claimant.spec.priority;
    if (in_scope) choices.jobs.emplace_back(id, WaysOf(state, id, may_break_gangs));
  }
  const std::vector<Domain> domains = DomainsOf(state, gang);
  const Amount cores = CrowdCores(gang.size);
  choices.at.assign(choices.jobs.size(), 0);
  std::optional<PlanCost> best;
  do {
    if (reclaims && !QueuesAllow(state, choices)) continue;
    const auto [bill, freed] = choices.Look(state);
    for (const Domain& domain : domains) {
      if (!Holds(state, domain, freed, cores, claimant.spec.min_available)) continue;
      const PlanCost cost = bill.For(gang, domain.tier);
      if (!best || cost < *best) best = cost;
    }
  } while (choices.Next());
  return best;
}

PlanCost CostOf(const ClusterBuilder& cluster,
                const CrowdGang& gang,
                const CycleResult::EvictionPlan& plan) {
  Bill bill;
  for (const CycleResult::EvictionPlan::Victim& victim : plan.victims) {
    bill.Add(cluster.state,
             victim.job,
             {.pods = victim.tasks, .gang = victim.unit == VictimUnit::Kind::kGang});
  }
  return bill.For(gang, plan.hypernode.empty() ? kTierOfAll : plan.tier);
}

}  // namespace strata::testing
