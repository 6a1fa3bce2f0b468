// The part of Search for jobs with sub-groups.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "sched/search.h"

namespace strata {
namespace {

std::vector<std::string> HyperNodesOfSubJobs(const Job& job) {
  std::vector<std::string> names;
  for (const SubJob& sub_job : job.sub_jobs) names.push_back(sub_job.allocated_hypernode);
  return names;
}

// Thousands of sub-jobs under the largest weights could leave 64 bits; then more is no better.
Score Sum(Score a, Score b) {
  Score sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<Score>::max() : sum;
}

std::vector<ClassId> Distinct(std::vector<ClassId> classes) {
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

std::vector<ClassId> ClassesOf(const ClusterState& state, std::span<const TaskId> tasks) {
  std::vector<ClassId> classes;
  classes.reserve(tasks.size());
  for (const TaskId id : tasks) classes.push_back(state.task(id).class_id);
  return classes;
}

bool HasScoresByTask(const Session& session, JobId job) {
  const auto& points = session.points().tasks;
  return std::any_of(points.begin(), points.end(), [&](const auto& score) {
    return score.point->ScoresTasksOf(job);
  });
}

bool IsNowhere(const Job& job) {
  return job.allocated_hypernode.empty() &&
         job.counts.Of(TaskStatus::kPending) == job.counts.Total() &&
         std::all_of(job.sub_jobs.begin(), job.sub_jobs.end(), [](const SubJob& sub_job) {
           return sub_job.allocated_hypernode.empty();
         });
}

void RestoreHyperNodes(ClusterState& state, JobId job, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) state.SetAllocatedHyperNode(job, i, names[i]);
}

std::size_t PodsLeft(const Worksheet& worksheet) {
  std::size_t pods = 0;
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) pods += sheet.left().size();
  return pods;
}

// To know what a HyperNode looks like is to look at every node: too much where a few pods are tried
// in a large one.
bool IsWorthALook(const HyperNodeTree& tree, HyperNodeId hypernode, std::size_t pods) {
  constexpr std::size_t kNodesPerPod = 4;
  return tree.NodesOf(hypernode).size() <= kNodesPerPod * pods;
}

// True when a place that one task does not find may be there for the next, once others are placed.
bool WatchPeers(Session& session, std::span<const TaskId> tasks) {
  const ClusterState& state = session.state();
  if (state.classes_with_rules().empty()) return false;
  return std::any_of(tasks.begin(), tasks.end(), [&](TaskId id) {
    return session.View(state.task(id).class_id).Peers() != nullptr;
  });
}

}  // namespace

Score Search::ScoreOne(const SubJob& sub_job, const Resources& need, HyperNodeId id) const {
  const HyperNodeScoreQuery query{.sub_job = &sub_job, .pending = &need, .need = &need};
  Score total = 0;
  for (const auto& [plugin, point] : session_.points().hypernodes) {
    Score score = 0;
    point->ScoreHyperNodes(session_.state(), query, std::span(&id, 1), std::span(&score, 1));
    total += score;
  }
  return total;
}

bool Search::CanShareBoard(const Level& level, const Worksheet::Sheet& sheet, Pass pass) const {
  if (session_.tracing() || pass != Pass::kReady || level.allocated.valid() ||
      level.limit.kind != TopologyLimit::Kind::kBounded || WatchPeers(session_, sheet.left())) {
    return false;
  }
  const SubJob& sub_job = session_.state().job(level.job).sub_jobs[sheet.sub_job];
  if (!HasNothingPlaced(sub_job) || sub_job.counts.pending_best_effort > 0 ||
      sheet.left().size() != static_cast<std::size_t>(sub_job.min_available)) {
    return false;
  }
  // All of it is missing, so what is pending is what is needed.
  const HyperNodeScoreQuery query{.sub_job = &sub_job, .pending = &level.need, .need = &level.need};
  const auto& points = session_.points().hypernodes;
  return std::all_of(points.begin(), points.end(), [&](const auto& named) {
    return named.point->ScoresAlone(query);
  });
}

std::optional<Search::Found> Search::FindAlike(const Level& level,
                                               Worksheet::Sheet& sheet,
                                               Boards& boards,
                                               Outcome& outcome) {
  const ClusterState& state = session_.state();
  const HyperNodeTree& tree = session_.tree();
  const SubJob& sub_job = state.job(level.job).sub_jobs[sheet.sub_job];
  const auto score = [&](HyperNodeId id) { return ScoreOne(sub_job, level.need, id); };
  SubJobKind kind{.tier = level.limit.tier,
                  .wants_nearness = sub_job.topology.present(),
                  .tasks = sub_job.tasks.size(),
                  .classes = ClassesOf(state, sheet.left())};
  auto it = boards.find(kind);
  if (it == boards.end()) {
    Board fresh{.board = DomainBoard(tree, FindGradient(level)),
                .seen = state.Mark(),
                .kinds = KindsFor(level.job, kind.classes),
                .pattern = std::nullopt};
    it = boards.emplace(std::move(kind), std::move(fresh)).first;
  }
  DomainBoard& board = it->second.board;
  ClusterState::Savepoint& seen = it->second.seen;
  board.Resume();
  ChainId last;
  for (const TaskId task : state.ChangedSince(seen)) {
    const ChainId chain = tree.ChainOf(state.task(task).node);
    if (chain == last) continue;
    last = chain;
    for (const HyperNodeId above : tree.HyperNodesOf(chain)) board.Refresh(above, score);
  }
  seen = state.Mark();
  while (const auto best = board.Best(score)) {
    const bool eligible = session_.points().gradient->IsEligible(state, level.need, *best);
    switch (eligible ? TryAlike(*best, level, sheet, *it, outcome) : Fit::kNoRoom) {
      case Fit::kPlaced:
        return Found{.hypernode = *best, .by_plugin = {}, .score = board.ScoreOf(*best)};
      case Fit::kBarred:
        board.PassOver(*best);
        break;
      case Fit::kNoRoom:
        board.Drop(*best);
        break;
    }
  }
  return std::nullopt;
}

Search::Fit Search::TryAlike(HyperNodeId hypernode,
                             const Level& level,
                             Worksheet::Sheet& sheet,
                             Boards::value_type& alike,
                             Outcome& outcome) {
  const ClusterState& state = session_.state();
  const HyperNodeTree& tree = session_.tree();
  auto& [sub_job, board] = alike;
  if (board.kinds == nullptr || !DomainKinds::IsLeaf(tree, hypernode) ||
      !IsWorthALook(tree, hypernode, sub_job.classes.size())) {
    return TryIn(hypernode, level, sheet, Pass::kReady, outcome);
  }
  const std::span<const NodeId> nodes = tree.NodesOf(hypernode);
  const std::size_t kind = board.kinds->KindOf(hypernode);
  if (board.pattern && board.pattern->kind == kind &&
      Repeat(*board.pattern, hypernode, level.job, sheet)) {
    return Fit::kPlaced;
  }
  const ClusterState::Savepoint begin = state.Mark();
  const std::size_t taken = sheet.next;
  const Fit fit = TryIn(hypernode, level, sheet, Pass::kReady, outcome);
  if (fit != Fit::kPlaced) return fit;
  const std::vector<TaskId> placed = state.ChangedSince(begin);
  board.pattern.reset();
  if (placed.size() != sheet.next - taken) return fit;  // the quota was in the way of some
  Pattern pattern;
  pattern.kind = kind;
  for (const TaskId id : placed) {
    const auto node = std::find(nodes.begin(), nodes.end(), state.task(id).node);
    pattern.positions.push_back(static_cast<std::size_t>(node - nodes.begin()));
  }
  board.pattern = std::move(pattern);
  return fit;
}

bool Search::Repeat(const Pattern& pattern,
                    HyperNodeId hypernode,
                    JobId job,
                    Worksheet::Sheet& sheet) {
  ClusterState& state = session_.state();
  const Job& the_job = state.job(job);
  const std::span<const NodeId> nodes = session_.tree().NodesOf(hypernode);
  const std::span<const TaskId> tasks = sheet.left();
  const ClusterState::Savepoint begin = state.Mark();
  for (std::size_t i = 0; i < pattern.positions.size(); ++i) {
    const Resources& request = state.task_class(state.task(tasks[i]).class_id).request;
    if (session_.Exhausted(the_job.queue, request)) break;
    session_.Place(tasks[i], nodes[pattern.positions[i]], DevicePoint::When::kNow, hypernode);
    if (!session_.SubJobReady(the_job, the_job.sub_jobs[sheet.sub_job])) continue;
    sheet.next += i + 1;
    return true;
  }
  state.RollbackTo(begin);
  return false;
}

// Places the sub-jobs one after the other below level.within, as far as they find a place.
void Search::PlaceSubJobs(const Level& level, Pass pass, Plan& plan, Outcome& outcome) {
  const ClusterState& state = session_.state();
  const Job& job = state.job(level.job);
  Boards boards;
  while (Worksheet::Sheet* sheet = plan.worksheet.Next(session_)) {
    const SubJob& sub_job = job.sub_jobs[sheet->sub_job];
    const Level below{
        .job = level.job,
        .sub_job = sub_job.name,
        .within = level.within,
        .allocated = session_.tree().Find(sub_job.allocated_hypernode).value_or(HyperNodeId{}),
        .limit = session_.LimitOf(level.job, sheet->sub_job),
        .need = NeedOf(state, job, *sheet)};
    const auto found = CanShareBoard(below, *sheet, pass)
                           ? FindAlike(below, *sheet, boards, outcome)
                           : FindSubJob(below, *sheet, pass, outcome);
    if (!found) sheet->next = sheet->tasks.size();  // has no place here; the others may still do
    const std::size_t placed = sheet->sub_job;
    plan.worksheet.Reorder(session_, *sheet);
    if (!found) continue;
    RememberHyperNode(level.job, placed, found->hypernode);
    plan.found.score = Sum(plan.found.score, found->score);
    for (const auto& [plugin, score] : found->by_plugin) {
      plan.found.by_plugin[plugin] = Sum(plan.found.by_plugin[plugin], score);
    }
    if (session_.JobReady(job)) return;
  }
}

// Places the sub-jobs below level.within, notes what came of it, and takes everything back, unless
// there is no other place to compare it with.
std::optional<Search::Plan> Search::PlanBelow(
    const Level& level, const Worksheet& worksheet, Pass pass, Rivals rivals, Outcome& outcome) {
  ClusterState& state = session_.state();
  const Job& job = state.job(level.job);
  const ClusterState::Savepoint begin = state.Mark();
  const std::vector<std::string> names_before = HyperNodesOfSubJobs(job);
  Plan plan{.hypernode = level.within,
            .steps = {},
            .sub_job_hypernodes = {},
            .worksheet = worksheet,
            .found = {}};
  plan.found.hypernode = level.within;
  PlaceSubJobs(level, pass, plan, outcome);
  const bool holds =
      session_.JobReady(job) || (pass == Pass::kWaiting && session_.JobPipelined(job));
  const bool placed = state.Mark() > begin;
  plan.sub_job_hypernodes = HyperNodesOfSubJobs(job);
  plan.in_place = placed && holds && rivals == Rivals::kNone;
  if (plan.in_place) return plan;
  for (const TaskId id : state.ChangedSince(begin)) {
    const Task& task = state.task(id);
    plan.steps.push_back({.task = id,
                          .node = task.node,
                          .idle = task.status == TaskStatus::kAllocated,
                          .gpus = state.GpusOf(id)});
  }
  state.RollbackTo(begin);
  RestoreHyperNodes(state, level.job, names_before);
  if (placed) TraceDiscard(level.job, level.within);
  if (!placed || !holds) return std::nullopt;
  return plan;
}

void Search::Adopt(JobId job, const Plan& plan, Worksheet& worksheet) {
  ClusterState& state = session_.state();
  for (const Plan::Step& step : plan.steps) {  // none when it is in place
    session_.Place(step.task,
                   step.node,
                   step.idle ? DevicePoint::When::kNow : DevicePoint::When::kFuture,
                   plan.hypernode,
                   step.gpus);
  }
  // Sub-jobs that had no place below this HyperNode may be tried again in a later turn.
  for (Worksheet::Sheet& sheet : worksheet.sheets()) {
    std::erase_if(sheet.tasks,
                  [&](TaskId id) { return state.task(id).status != TaskStatus::kPending; });
  }
  worksheet.Reorder(session_);
  RestoreHyperNodes(state, job, plan.sub_job_hypernodes);
  if (session_.LimitOf(job).kind == TopologyLimit::Kind::kBounded || state.job(job).HasTopology()) {
    RememberHyperNode(job, plan.hypernode);
  }
}

DomainKinds* Search::KindsFor(JobId job, std::vector<ClassId> classes) {
  classes = Distinct(std::move(classes));
  if (HasScoresByTask(session_, job) || !DomainKinds::Suffice(session_, classes)) return nullptr;
  return &domain_kinds_.try_emplace(classes, session_, classes).first->second;
}

DomainKinds* Search::KindsFor(JobId job, const Worksheet& worksheet) {
  const ClusterState& state = session_.state();
  if (!IsNowhere(state.job(job))) return nullptr;
  std::vector<ClassId> classes;
  for (const Worksheet::Sheet& sheet : worksheet.sheets()) {
    for (const ClassId id : Distinct(ClassesOf(state, sheet.left()))) classes.push_back(id);
  }
  return KindsFor(job, std::move(classes));
}

std::optional<Search::Plan> Search::PlanInTier(const Level& level,
                                               const Gradient::Tier& tier,
                                               const Worksheet& worksheet,
                                               Pass pass,
                                               Outcome& outcome) {
  const bool compares = tier.eligible.size() > 1 && !session_.tracing() && pass == Pass::kReady;
  DomainKinds* const kinds = compares ? KindsFor(level.job, worksheet) : nullptr;
  const std::size_t pods = PodsLeft(worksheet);
  const bool alone = tier.eligible.size() == 1 && !session_.tracing();
  std::set<DomainKinds::Likeness> tried;
  TierScores scores;
  scores.hypernodes = tier.eligible;
  scores.total.assign(tier.eligible.size(), 0);
  std::vector<std::size_t> failed;
  std::optional<Plan> best;
  for (std::size_t i = 0; i < tier.eligible.size(); ++i) {
    const HyperNodeId hypernode = tier.eligible[i];
    // What a leaf looks like is soon known for all jobs of a cycle.
    if (kinds != nullptr && (DomainKinds::IsLeaf(session_.tree(), hypernode) ||
                             IsWorthALook(session_.tree(), hypernode, pods))) {
      const auto likeness = kinds->LikenessOf(hypernode);
      // It would come to the same, and of equal ones the first is taken.
      if (likeness && !tried.insert(*likeness).second) continue;
    }
    Level within = level;
    within.within = hypernode;
    auto plan = PlanBelow(within, worksheet, pass, alone ? Rivals::kNone : Rivals::kSome, outcome);
    if (!plan) {
      failed.push_back(i);
      continue;
    }
    scores.total[i] = plan->found.score;
    for (const auto& [plugin, score] : plan->found.by_plugin) {
      auto& row = scores.by_plugin[plugin];
      row.resize(tier.eligible.size(), 0);
      row[i] = score;
    }
    if (!best || plan->found.score > best->found.score) best = std::move(plan);
  }
  if (session_.tracing() && !tier.eligible.empty()) {
    TraceScores(level, scores, failed, best ? best->hypernode : HyperNodeId{});
  }
  return best;
}

Search::Outcome Search::RunTwoLevels(JobId job, Worksheet& worksheet, Pass pass) {
  constexpr std::size_t kMostKept = 64;  // sets of classes of one busy cycle
  if (domain_kinds_.size() >= kMostKept) domain_kinds_.clear();
  const HyperNodeTree& tree = session_.tree();
  const Level level{
      .job = job,
      .sub_job = "",
      .within = tree.top(),
      .allocated = tree.Find(session_.state().job(job).allocated_hypernode).value_or(HyperNodeId{}),
      .limit = session_.LimitOf(job),
      .need = NeedOf(session_, job, worksheet)};
  Outcome outcome;
  const Gradient gradient = FindGradient(level);
  for (const Gradient::Tier& tier : gradient.tiers) {
    if (const auto best = PlanInTier(level, tier, worksheet, pass, outcome)) {
      Adopt(job, *best, worksheet);
      outcome.ok = true;
      break;
    }
  }
  return outcome;
}

}  // namespace strata
