#include "sched/second_search.h"

#include <algorithm>
#include <set>

namespace strata {
namespace {

std::uint64_t Pods(const std::map<std::uint32_t, std::uint32_t>& counts) {
  std::uint64_t pods = 0;
  for (const auto& [number, count] : counts) pods += count;
  return pods;
}

bool IsReady(const SubJob& sub_job, std::size_t more) {
  return sub_job.counts.Ready() + static_cast<std::int64_t>(more) >= sub_job.min_available;
}

// The sheets in the order of their sub-jobs. Where they are in the worksheet depends on the order
// in which pods came.
std::vector<const Worksheet::Sheet*> InOrder(const Session& session,
                                             const Job& job,
                                             const Worksheet& worksheet) {
  std::vector<const Worksheet::Sheet*> sheets;
  sheets.reserve(worksheet.sheets().size());
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) sheets.push_back(&sheet);
  std::sort(sheets.begin(), sheets.end(), [&](const auto* a, const auto* b) {
    return session.plugins().SubJobBefore(job, job.sub_jobs[a->sub_job], job.sub_jobs[b->sub_job]);
  });
  return sheets;
}

}  // namespace

bool SecondSearch::MayHelp(const Worksheet::Sheet& sheet) {
  if (may_help_) return *may_help_;
  const WorkloadTable& workload = session_.state().workload();
  const std::span<const TaskId> left = sheet.left();
  may_help_ = std::any_of(left.begin(), left.end(), [&](TaskId id) {
    return workload.task(id).class_id != workload.task(left.front()).class_id;
  });
  return *may_help_;
}

SecondSearch::ClassNumber SecondSearch::NumberOf(TaskId task) {
  const ClassId class_id = session_.state().workload().task(task).class_id;
  const auto [it, is_new] = numbers_.emplace(class_id, static_cast<ClassNumber>(classes_.size()));
  if (is_new) classes_.push_back(class_id);
  return it->second;
}

bool SecondSearch::PlaceFlat(JobId job, HyperNodeId hypernode, Worksheet::Sheet& sheet) {
  const ClusterState& state = session_.state();
  const Job& the_job = state.workload().job(job);
  const SubJob& sub_job = the_job.sub_jobs[sheet.sub_job];
  const std::size_t missing = MissingForGang(the_job, sub_job, sheet.left().size());
  if (quota_ || sheet.left().empty()) return false;
  const std::span<const TaskId> tasks = sheet.left().first(std::max<std::size_t>(missing, 1));
  Wanted wanted;
  for (const TaskId id : tasks) ++wanted[{hypernode, NumberOf(id)}];
  auto places = Pack(hypernode, wanted);
  if (!places) return false;
  const Journal::Savepoint begin = state.journal().Mark();
  if (PlaceAll(tasks, hypernode, *places) && session_.plugins().SubJobReady(the_job, sub_job)) {
    sheet.next += tasks.size();
    return true;
  }
  session_.state().journal().RollbackTo(begin);
  TraceDiscard(session_, job, hypernode);
  return false;
}

bool SecondSearch::PlaceParts(JobId job, HyperNodeId hypernode, Worksheet& worksheet) {
  const ClusterState& state = session_.state();
  const Job& the_job = state.workload().job(job);
  if (quota_) return false;
  kind_of_.clear();
  kinds_.clear();
  Parts parts = PartsOf(the_job, hypernode, worksheet);
  Spare spare = SpareOf(the_job, parts);
  if (spare.pods < 0 || !Assign(hypernode, parts, 0, spare)) return false;
  // A job that needs no pod could do without all of its parts, and would get turn after turn.
  const bool places =
      std::any_of(parts.begin(), parts.end(), [](const Part& part) { return part.at.valid(); });
  if (!places) return false;
  const Journal::Savepoint begin = state.journal().Mark();
  if (!Commit(job, hypernode, parts)) {
    session_.state().journal().RollbackTo(begin);
    TraceDiscard(session_, job, hypernode);
    return false;
  }
  for (Worksheet::Sheet& sheet : worksheet.sheets()) {
    std::erase_if(sheet.tasks, [&](TaskId id) {
      return state.workload().task(id).status != TaskStatus::kPending;
    });
  }
  worksheet.Reorder(session_);
  return true;
}

SecondSearch::Parts SecondSearch::PartsOf(const Job& job,
                                          HyperNodeId hypernode,
                                          const Worksheet& worksheet) {
  const ClusterState& state = session_.state();
  Parts parts;
  std::size_t in_minima = 0;
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) {
    in_minima += MissingForGang(job, job.sub_jobs[sheet.sub_job], sheet.left().size());
  }
  const auto wanted = static_cast<std::size_t>(std::max(job.spec.min_available, 1));
  for (const Worksheet::Sheet* sheet : InOrder(session_, job, worksheet)) {
    const SubJob& sub_job = job.sub_jobs[sheet->sub_job];
    std::span<const TaskId> tasks = sheet->left();
    if (in_minima >= wanted) tasks = tasks.first(MissingForGang(job, sub_job, tasks.size()));
    // A sub-group some of whose pods may not be placed yet cannot start.
    if (tasks.empty() || !IsReady(sub_job, tasks.size())) continue;
    Part part;
    part.order = parts.size();
    part.sub_job = sheet->sub_job;
    part.tasks.assign(tasks.begin(), tasks.end());
    part.counts_for_policy = sub_job.key && !IsReady(sub_job, 0);
    for (const TaskId id : tasks) ++part.counts[NumberOf(id)];
    const TopologyLimit& limit =
        session_.topologies().LimitOf(state.workload().task(tasks.front()).job, sheet->sub_job);
    part.bounded = limit.kind == TopologyLimit::Kind::kBounded;
    part.choices = part.bounded ? ChoicesFor(hypernode, limit.tier) : std::vector{hypernode};
    parts.push_back(std::move(part));
  }
  // The narrowest first, then the largest; equal ones side by side.
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    if (a.choices.size() != b.choices.size()) return a.choices.size() > b.choices.size();
    if (a.choices != b.choices) return a.choices < b.choices;
    if (Pods(a.counts) != Pods(b.counts)) return Pods(a.counts) > Pods(b.counts);
    return a.counts < b.counts;
  });
  return parts;
}

std::vector<HyperNodeId> SecondSearch::ChoicesFor(HyperNodeId below, std::int32_t tier) const {
  const HyperNodeTree& tree = session_.tree();
  std::vector<HyperNodeId> choices;
  std::vector<HyperNodeId> to_see = {below};
  std::set<HyperNodeId> seen;
  while (!to_see.empty()) {
    const HyperNodeId id = to_see.back();
    to_see.pop_back();
    if (!seen.insert(id).second) continue;
    if (tree.at(id).tier <= tier) {
      choices.push_back(id);
    } else {
      to_see.insert(to_see.end(), tree.at(id).children.begin(), tree.at(id).children.end());
    }
  }
  std::sort(choices.begin(), choices.end());
  return choices;
}

SecondSearch::Spare SecondSearch::SpareOf(const Job& job, const Parts& parts) {
  Spare spare;
  for (const SubGroupPolicy& policy : job.spec.sub_groups) {
    spare.parts.push_back(-std::int64_t{policy.min_sub_groups});
  }
  for (const SubJob& sub_job : job.sub_jobs) {
    if (sub_job.key && IsReady(sub_job, 0)) ++spare.parts[sub_job.key->policy];
  }
  spare.pods = job.counts.Ready() - std::int64_t{job.spec.min_available};
  for (const Part& part : parts) {
    spare.pods += static_cast<std::int64_t>(part.tasks.size());
    if (part.counts_for_policy) ++spare.parts[job.sub_jobs[part.sub_job].key->policy];
  }
  return spare;
}

bool SecondSearch::Assign(HyperNodeId within, Parts& parts, std::size_t next, Spare& spare) {
  if (!budget_.Spend(1)) return false;
  if (next == parts.size()) {
    found_ = Pack(within, WantedOf(session_, parts, parts.size(), within));
    return found_.has_value();
  }
  if (TryChoices(within, parts, next, spare)) return true;
  // Without this part, if enough others are left.
  Part& part = parts[next];
  const Task& task = session_.state().workload().task(part.tasks.front());
  const auto& key = session_.state().workload().job(task.job).sub_jobs[part.sub_job].key;
  std::int64_t* const spare_parts = part.counts_for_policy ? &spare.parts[key->policy] : nullptr;
  const auto pods = static_cast<std::int64_t>(part.tasks.size());
  if (budget_.cut() || spare.pods < pods) return false;
  if (spare_parts != nullptr && *spare_parts < 1) return false;
  spare.pods -= pods;
  if (spare_parts != nullptr) --*spare_parts;
  part.at = HyperNodeId{};
  if (Assign(within, parts, next + 1, spare)) return true;
  spare.pods += pods;
  if (spare_parts != nullptr) ++*spare_parts;
  return false;
}

bool SecondSearch::TryChoices(HyperNodeId within, Parts& parts, std::size_t next, Spare& spare) {
  Part& part = parts[next];
  // The second of two equal parts goes no further back than the first.
  std::size_t from = 0;
  if (next > 0) {
    const Part& before = parts[next - 1];
    if (before.at.valid() && before.choices == part.choices && before.counts == part.counts) {
      from = static_cast<std::size_t>(
          std::find(part.choices.begin(), part.choices.end(), before.at) - part.choices.begin());
    }
  }
  // Nor is one of several HyperNodes tried that have the same on their nodes and the same parts.
  std::set<std::pair<std::size_t, Wanted>> alike;
  const bool compares = part.bounded && AreOnOneLevel(parts);
  for (std::size_t i = from; i < part.choices.size() && !budget_.cut(); ++i) {
    part.at = HyperNodeId{};
    if (compares) {
      Wanted there;
      for (const auto& [kind, pods] : WantedOf(session_, parts, next, part.choices[i])) {
        there[{HyperNodeId{}, kind.second}] = pods;
      }
      if (!alike.emplace(KindOf(part.choices[i], parts), std::move(there)).second) continue;
    }
    part.at = part.choices[i];
    if (!budget_.Spend(1)) break;
    if (!Fits(part.at, WantedOf(session_, parts, next + 1, part.at))) continue;
    if (Assign(within, parts, next + 1, spare)) return true;
  }
  part.at = HyperNodeId{};
  return false;
}

bool SecondSearch::AreOnOneLevel(const Parts& parts) {
  const auto first =
      std::find_if(parts.begin(), parts.end(), [](const Part& part) { return part.bounded; });
  return std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
    return !part.bounded || part.choices == first->choices;
  });
}

std::size_t SecondSearch::KindOf(HyperNodeId hypernode, const Parts& parts) {
  const auto known = kind_of_.find(hypernode);
  if (known != kind_of_.end()) return known->second;
  Wanted all;
  for (const Part& part : parts) {
    for (const auto& [number, pods] : part.counts) all[{hypernode, number}] += pods;
  }
  PackingProblem problem = ProblemOf(session_.tree().NodesOf(hypernode), all);
  std::sort(problem.nodes.begin(), problem.nodes.end());
  const auto kind = kinds_.emplace(std::move(problem.nodes), kinds_.size()).first->second;
  kind_of_.emplace(hypernode, kind);
  return kind;
}

SecondSearch::Wanted SecondSearch::WantedOf(const Session& session,
                                            const Parts& parts,
                                            std::size_t count,
                                            HyperNodeId below) {
  Wanted wanted;
  for (std::size_t i = 0; i < count; ++i) {
    const Part& part = parts[i];
    if (!part.at.valid() || !session.tree().IsAncestorOrSelf(below, part.at)) continue;
    for (const auto& [number, pods] : part.counts) wanted[{part.at, number}] += pods;
  }
  return wanted;
}

bool SecondSearch::Fits(HyperNodeId below, const Wanted& wanted) {
  const auto known = known_.find({below, wanted});
  if (known != known_.end()) return known->second;
  const bool fits = Pack(below, wanted).has_value();
  if (!budget_.cut()) known_.emplace(std::pair(below, wanted), fits);
  return fits;
}

std::optional<SecondSearch::Places> SecondSearch::Pack(HyperNodeId below, const Wanted& wanted) {
  const std::span<const NodeId> all = session_.tree().NodesOf(below);
  if (!budget_.Spend(all.size())) return std::nullopt;
  session_.Look(all.size());
  std::vector<NodeId> nodes;
  for (const NodeId node : all) {
    const bool takes = std::any_of(wanted.begin(), wanted.end(), [&](const auto& entry) {
      return ViewOf(entry.first.second).Slots(node) > 0;
    });
    if (takes) nodes.push_back(node);
  }
  const PackingProblem problem = ProblemOf(nodes, wanted);
  Packing::Counts counts;
  for (const auto& [kind, pods] : wanted) counts.push_back(pods);
  const std::uint64_t before = budget_.spent();
  const auto solved = Packing(problem, budget_).Solve(counts);
  session_.Look(budget_.spent() - before);
  if (!solved) return std::nullopt;
  Places places;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::size_t kind = 0;
    for (const auto& [key, pods] : wanted) {
      auto& list = places[key];
      list.insert(list.end(), (*solved)[i][kind++], nodes[i]);
    }
  }
  return places;
}

PackingProblem SecondSearch::ProblemOf(std::span<const NodeId> nodes, const Wanted& wanted) {
  const ClusterState& state = session_.state();
  std::set<ResourceId> resources;
  for (const auto& [kind, pods] : wanted) {
    const Resources& request = state.classes().spec(classes_[kind.second]).request;
    for (std::size_t r = 0; r < request.size(); ++r) {
      if (request.amounts()[r] > 0) resources.insert(IdAt<ResourceId>(r));
    }
  }
  PackingProblem problem;
  for (const auto& [kind, pods] : wanted) {
    std::vector<Amount>& request = problem.requests.emplace_back();
    for (const ResourceId id : resources) {
      request.push_back(state.classes().spec(classes_[kind.second]).request.Get(id));
    }
  }
  for (const NodeId id : nodes) {
    PackingProblem::Node& node = problem.nodes.emplace_back();
    for (const ResourceId resource : resources) {
      node.free.push_back(ClassView::Free(state, id, resource));
    }
    for (const auto& [kind, pods] : wanted) {
      const bool may = session_.tree().Contains(kind.first, id);
      node.slots.push_back(may ? ViewOf(kind.second).Slots(id) : 0);
    }
  }
  return problem;
}

bool SecondSearch::PlaceAll(std::span<const TaskId> tasks, HyperNodeId at, Places& places) {
  for (const TaskId id : tasks) {
    const ClassNumber number = NumberOf(id);
    std::vector<NodeId>& nodes = places[{at, number}];
    quota_ = session_.plugins().Exhausted(id);
    if (nodes.empty() || quota_) return false;
    const NodeId node = nodes.front();
    if (!ViewOf(number).Takes(node)) return false;
    nodes.erase(nodes.begin());
    session_.Place(id, node, DevicePoint::When::kNow, at);
  }
  return true;
}

bool SecondSearch::Commit(JobId job, HyperNodeId hypernode, const Parts& parts) {
  const ClusterState& state = session_.state();
  const HyperNodeTree& tree = session_.tree();
  LevelSearch level_search(session_);
  // In the order of the sub-jobs, so that ranks follow the tree.
  std::vector<const Part*> in_order;
  for (const Part& part : parts) {
    if (part.at.valid()) in_order.push_back(&part);
  }
  std::sort(in_order.begin(), in_order.end(), [](const Part* a, const Part* b) {
    return a->order < b->order;
  });
  for (const Part* part : in_order) {
    if (!PlaceAll(part->tasks, part->at, *found_)) return false;
    HyperNodeId at;
    for (const TaskId id : part->tasks) {
      at = tree.Lca(at, tree.LeafOf(tree.ChainOf(state.workload().task(id).node)));
    }
    // A node may be in two trees, and its leaf in the other one.
    const bool lower = part->bounded && tree.IsAncestorOrSelf(part->at, at);
    level_search.ExtendAllocated(job, part->sub_job, lower ? at : part->at);
  }
  const Job& the_job = state.workload().job(job);
  if (!session_.plugins().JobReady(the_job)) return false;
  if (session_.topologies().LimitOf(job).kind == TopologyLimit::Kind::kBounded ||
      the_job.HasTopology()) {
    level_search.ExtendAllocated(job, hypernode);
  }
  return true;
}

}  // namespace strata
