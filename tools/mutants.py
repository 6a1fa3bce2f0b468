#!/usr/bin/env python3
"""Breaks rules on purpose, one at a time: each must make a test fail.

A mutant is a text of the source and what it becomes, with MUTANT where it is asked whether this one lives. All are built
into one copy of the tree (build/mutants); STRATA_MUTANT then says which of them lives, and the tests that should notice
are run. Prints one line per mutant with the first test that failed; fails when a mutant lived, when a test fails with
no mutant at all, or when a text is no longer there exactly once. A mutant that breaks a promise of a whole cluster is looked for in random
histories, too (tests/histories), and the line says after how many of them it was found.

    tools/mutants.py            all of them
    tools/mutants.py 3 7        these
    tools/mutants.py --check    only whether the texts are there
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutants"
TIMEOUT_S = 600
ANSWERS = "src/base/duration.cc"  # any source that all tests have
ANSWER = """
#include <cstdlib>
namespace strata {
bool IsMutant(int number);
bool IsMutant(int number) {
  static const char* const living = std::getenv("STRATA_MUTANT");
  static const int lives = living == nullptr ? 0 : std::atoi(living);
  return lives == number;
}
}  // namespace strata
"""

MODEL = ("strata_model_test",)
SCHED = ("strata_sched_test",)
PROPERTY = ("strata_cycle_property_test",)
EVICTION = ("strata_eviction_property_test",)
KUBE = ("strata_kube_test",)
LIVE = ("strata_live_test",)
APISERVER = ("strata_apiserver_test",)
HISTORIES = "strata_run_histories"
MOST_HISTORIES = 1000


@dataclass(frozen=True)
class Mutant:
    """A rule that is broken: in `file`, `old` becomes `new`, and one of `tests` must fail."""

    rule: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    in_histories: bool = False  # random histories must find it, too


MUTANTS = (
    Mutant(
        "the LCA is the lowest HyperNode above both",
        "src/model/hypernode_shape.cc",
        "return a.valid() ? a : top();  // above",
        "if (MUTANT && a.valid() && hypernodes_[a.index()].parent.valid()) return hypernodes_[a.index()].parent;\n"
        "  return a.valid() ? a : top();  // above",
        MODEL,
    ),
    Mutant(
        "a trial that fails is rolled back",
        "src/sched/trial.cc",
        "if (!outcome.ok) state.journal().RollbackTo(begin);",
        "if (!outcome.ok && !MUTANT) state.journal().RollbackTo(begin);",
        SCHED + PROPERTY,
    ),
    Mutant(
        "of equal nodes the one with the lower name is taken",
        "src/sched/node_chooser.cc",
        "return tree.NameRank(node) < tree.NameRank(best);",
        "return (tree.NameRank(node) < tree.NameRank(best)) != MUTANT;",
        SCHED + PROPERTY,
    ),
    Mutant(
        "the lowest tier that holds the gang wins",
        "src/sched/plugins/hypernode_gradient.cc",
        "      AddTier(state, query, tier, tree.OfTier(tier), gradient);\n    }\n",
        "      AddTier(state, query, tier, tree.OfTier(tier), gradient);\n    }\n"
        "    if (MUTANT) std::reverse(gradient.tiers.begin(), gradient.tiers.end());\n",
        SCHED,
    ),
    Mutant(
        "a gang of n starts with n, not with n - 1",
        "src/sched/plugins/gang.cc",
        "return Count(job.counts, counting) >= job.spec.min_available;",
        "return Count(job.counts, counting) >= job.spec.min_available - (MUTANT ? 1 : 0);",
        SCHED,
    ),
    Mutant(
        "a queue may use its capability up",
        "src/sched/plugins/queue_rules.h",
        "if (static_cast<double>(amount) <= left(resource) + ToleranceOf(resource)) return;",
        "if (static_cast<double>(amount) <= left(resource) + (MUTANT ? -1 : ToleranceOf(resource))) return;",
        SCHED,
    ),
    Mutant(
        "the fullest HyperNode that holds the gang is best",
        "src/sched/plugins/network_topology_aware.cc",
        "    out[i] = ToScore(value * scale_);\n  }\n}\n\nvoid NetworkTopologyAware::ScoreNearness",
        "    out[i] = ToScore((MUTANT ? 1 - value : value) * scale_);\n  }\n}\n\nvoid NetworkTopologyAware::ScoreNearness",
        SCHED,
    ),
    Mutant(
        "what is cached of a node is invalidated when the node changes",
        "src/sched/class_view.cc",
        "if (fact.version != state_.nodes().Version(node)) {",
        "if (MUTANT ? fact.version == 0 : fact.version != state_.nodes().Version(node)) {",
        SCHED + PROPERTY,
    ),
    Mutant(
        "backfill stays inside the domain of a hard job",
        "src/sched/actions/backfill.cc",
        "if (limit >= top_tier) return {tree.top()};",
        "if (MUTANT || limit >= top_tier) return {tree.top()};",
        SCHED + PROPERTY,
    ),
    Mutant(
        "a pod that waits for room does not count as ready",
        "src/sched/plugins/gang.cc",
        "(counting == Counting::kReadyOrPipelined ?",
        "((counting == Counting::kReadyOrPipelined) != MUTANT ?",
        SCHED,
    ),
    Mutant(
        "the limits of a job follow its changes",
        "src/sched/job_topologies.cc",
        "auto jobs = state_.workload().JobsTouchedSince(seen_);",
        "auto jobs = state_.workload().JobsTouchedSince(seen_);\n  if (MUTANT && jobs) jobs->clear();",
        SCHED + PROPERTY,
    ),
    Mutant(
        "the limits of all jobs follow the tree",
        "src/sched/job_topologies.cc",
        "if (!jobs || tree_version_ != tree.version()) {",
        "if (!jobs || (!MUTANT && tree_version_ != tree.version())) {",
        SCHED + PROPERTY,
    ),
    Mutant(
        "the phase of a job follows its changes",
        "src/sched/lifecycle.cc",
        "auto jobs = state.workload().JobsTouchedSince(seen_);",
        "auto jobs = state.workload().JobsTouchedSince(seen_);\n  if (MUTANT && jobs) jobs->clear();",
        SCHED + PROPERTY,
    ),
    Mutant(
        "HyperNodes of one kind are tried once, and only those",
        "src/sched/domain_kinds.cc",
        "if (entry.version == version) return entry.kind;",
        "if (MUTANT ? entry.version != 0 : entry.version == version) return entry.kind;",
        SCHED + PROPERTY,
    ),
    Mutant(
        "a changed chain changes the scores of the chains beside it",
        "src/sched/chain_crowns.cc",
        "for (const std::size_t g : groups_below_[id.index()]) add(g);",
        "if (!MUTANT) for (const std::size_t g : groups_below_[id.index()]) add(g);",
        SCHED + PROPERTY,
    ),
    Mutant(
        "a kind of chains is scored by its own sums",
        "src/sched/plugins/network_topology_aware.cc",
        "const ChainGroup::Base base = groups[i].base.value_or(Bottom());",
        "const ChainGroup::Base base = MUTANT ? Bottom() : groups[i].base.value_or(Bottom());",
        SCHED + PROPERTY,
    ),
    Mutant(
        "a promise is taken back when the job has what it asked for",
        "src/sched/plugins/promise_book.cc",
        "  Add(part, -1);",
        "  if (!MUTANT) Add(part, -1);",
        SCHED,
    ),
    Mutant(
        "a job whose pod is pending again waits",
        "src/model/workload_table_jobs.cc",
        "if (Waits(jobs_[id.index()]) == (at != 0)) return;",
        "if (Waits(jobs_[id.index()]) == (at != 0) || (MUTANT && at == 0)) return;",
        MODEL,
    ),
    Mutant(
        "a node that is tainted or cordoned is no longer open",
        "src/model/node_table.cc",
        "open_[id.index()] = spec.taints.empty()",
        "if (!MUTANT || !known) open_[id.index()] = spec.taints.empty()",
        MODEL + PROPERTY,
    ),
    Mutant(
        "the sums of HyperNodes follow what a node has",
        "src/model/hypernode_sums.cc",
        "      table->Sub(hypernode.index(), room.out);",
        "      if (MUTANT) continue;\n      table->Sub(hypernode.index(), room.out);",
        MODEL + PROPERTY,
    ),
    Mutant(
        "a node's score is computed again when the node changes",
        "src/sched/class_view.cc",
        "    fact.has_score = false;",
        "    if (!MUTANT) fact.has_score = false;",
        SCHED + PROPERTY,
    ),
    Mutant(
        "names in another order make another kind of HyperNode",
        "src/sched/domain_kinds.cc",
        "static_cast<std::int64_t>(entry.order)",
        "static_cast<std::int64_t>(MUTANT ? 0 : entry.order)",
        SCHED,
    ),
    Mutant(
        "a HyperNode ruled out by sums is not tried, even after a similar sub-group went there",
        "src/sched/similar_sub_jobs.cc",
        "gradient.IsEligible(state, level.need.room, *best);",
        "MUTANT || gradient.IsEligible(state, level.need.room, *best);",
        SCHED + PROPERTY,
    ),
    Mutant(
        "a HyperNode blocked by a sibling task is tried again",
        "src/sched/similar_sub_jobs.cc",
        "        board.PassOver(*best);",
        "        MUTANT ? board.Drop(*best) : board.PassOver(*best);",
        SCHED + PROPERTY,
    ),
    Mutant(
        "rules of deleted pods are ignored",
        "src/sched/peer_counts.cc",
        "return state_.classes().HasTasks(id);",
        "return MUTANT || state_.classes().HasTasks(id);",
        SCHED + PROPERTY,
    ),
    Mutant(
        "an incomplete gang comes before all other jobs",
        "src/sched/job_queues.cc",
        "    incomplete_.insert(job);",
        "    if (!MUTANT) incomplete_.insert(job);",
        SCHED + PROPERTY,
        in_histories=True,
    ),
    Mutant(
        "an incomplete gang may use more than the share of its queue",
        "src/sched/plugin_set.cc",
        "task.IsOversized() || IsIncompleteGang(job);",
        "task.IsOversized() || (!MUTANT && IsIncompleteGang(job));",
        SCHED + PROPERTY,
    ),
    Mutant(
        "a pod that no node can hold is in no sum of what waits",
        "src/model/workload_table.cc",
        "task.exceeds_nodes = ExceedsNodes(task);",
        "task.exceeds_nodes = !MUTANT && ExceedsNodes(task);",
        MODEL + SCHED,
    ),
    Mutant(
        "the undo of an allocation makes the task pending",
        "src/model/journal.cc",
        "  void operator()(const AllocateStep& step) const {\n",
        "  void operator()(const AllocateStep& step) const {\n    if (MUTANT) return;\n",
        MODEL + PROPERTY,
    ),
    Mutant(
        "the undo of a pipelining makes the task pending",
        "src/model/journal.cc",
        "  void operator()(const PipelineStep& step) const {\n",
        "  void operator()(const PipelineStep& step) const {\n    if (MUTANT) return;\n",
        MODEL + PROPERTY,
    ),
    Mutant(
        "the undo of an eviction makes a bound task bound, not running",
        "src/model/journal.cc",
        "Move(step.task, step.was, ",
        "Move(step.task, MUTANT ? TaskStatus::kRunning : step.was, ",
        MODEL + PROPERTY,
    ),
    Mutant(
        "the undo of a domain restores the domain before it",
        "src/model/journal.cc",
        "  void operator()(const SetDomainStep& step) const {\n",
        "  void operator()(const SetDomainStep& step) const {\n    if (MUTANT && step.sub_job) return;\n",
        MODEL + PROPERTY,
    ),
    Mutant(
        "a committed eviction is not taken back at the end of the cycle",
        "src/model/journal.cc",
        "  void operator()(const EvictStep& step) {\n",
        "  void operator()(const EvictStep& step) {\n    if (MUTANT) held.emplace_back(step);\n",
        MODEL + PROPERTY,
    ),
    Mutant(
        "a domain stays only where a commit binds a task",
        "src/model/journal.cc",
        "if (lasts) {",
        "if (lasts || MUTANT) {",
        MODEL + PROPERTY,
    ),
    Mutant(
        "a gang keeps its minimum when it loses surplus pods",
        "src/sched/eviction/spare_pods.cc",
        "         IsBeyondMinimums(state, id);",
        "         (MUTANT || IsBeyondMinimums(state, id));",
        SCHED + EVICTION,
    ),
    Mutant(
        "a job preempts jobs of lower priority alone",
        "src/sched/plugins/priority.cc",
        "    return priority < state_->workload().job(claim.job).spec.priority;",
        "    return MUTANT || priority < state_->workload().job(claim.job).spec.priority;",
        SCHED + EVICTION,
    ),
    Mutant(
        "conformance protects system pods",
        "src/sched/plugins/conformance.cc",
        "    return task.disruption.critical ?",
        "    return task.disruption.critical && !MUTANT ?",
        SCHED + EVICTION,
    ),
    Mutant(
        "preempt breaks no gang while the gang plugin votes",
        "src/sched/plugins/gang.cc",
        "SparesGangs() const override { return true; }",
        "SparesGangs() const override { return !MUTANT; }",
        SCHED + EVICTION,
    ),
    Mutant(
        "a queue reclaims no more than it deserves",
        "src/sched/plugins/reclaim_rules.cc",
        "    if (part.has + asked > part.deserved + ToleranceOf(id)) return id;",
        "    if (!MUTANT && part.has + asked > part.deserved + ToleranceOf(id)) return id;",
        SCHED + EVICTION,
    ),
    Mutant(
        "a gang that breaks loses every pod, wherever it runs",
        "src/sched/eviction/victims.cc",
        "    if (!candidate.whole || (highest",
        "    if ((!candidate.whole && !MUTANT) || (highest",
        SCHED + EVICTION,
    ),
    Mutant(
        "the cheaper of two combinations is taken",
        "src/sched/eviction/clearing_search.cc",
        "  if (branch.best && branch.best->cost <= here.cost) return;",
        "  if (branch.best && (MUTANT || branch.best->cost <= here.cost)) return;",
        SCHED + EVICTION,
    ),
    Mutant(
        "a job of sub-groups runs in the HyperNode that their nodes share",
        "src/sched/lifecycle.cc",
        "  if (joins) {",
        "  if (joins && !MUTANT) {",
        SCHED,
    ),
    Mutant(
        "what failed is tried again when something that it needs has changed",
        "src/sched/attempts.cc",
        "  if (needs.anything) return Wake::kYes;",
        "  if (MUTANT) return Wake::kNo;\n  if (needs.anything) return Wake::kYes;",
        SCHED + PROPERTY,
    ),
    Mutant(
        "the lease is checked before every attempt of a write",
        "src/kube/client.cc",
        "return call_.leadership == nullptr || call_.leadership->Holds(transport_.Now());",
        "return MUTANT || call_.leadership == nullptr || call_.leadership->Holds(transport_.Now());",
        KUBE,
        in_histories=True,
    ),
    Mutant(
        "a bind names the version of the pod that it was decided for",
        "src/live/live_scheduler.cc",
        "    order.pod.version = watch_.VersionOf(NameOf(order.pod));",
        "    if (!MUTANT) order.pod.version = watch_.VersionOf(NameOf(order.pod));",
        LIVE,
        in_histories=True,
    ),
    Mutant(
        "a bind without an answer is made stale by a write before its room is given up",
        "src/live/binder.cc",
        "    ++unsure_;\n    Fence(task);",
        "    if (MUTANT) return Read(task, false);\n    ++unsure_;\n    Fence(task);",
        LIVE,
    ),
    Mutant(
        "a node of HAMi's agent has one pod in flight",
        "src/live/node_lock_book.cc",
        "if (const auto end = EndOfFlights(name, now.steady)) return",
        "if (const auto end = EndOfFlights(name, now.steady); end && !MUTANT) return",
        LIVE,
    ),
    Mutant(
        "the lock of another scheduler is waited for",
        "src/live/node_lock_book.cc",
        "if (now.steady < end) return WaitUntil(name, end);",
        "if (now.steady < end && !MUTANT) return WaitUntil(name, end);",
        LIVE,
    ),
    Mutant(
        "the lock of a bind that failed is released",
        "src/live/node_lock_book.cc",
        "if (node.line.empty() && !MayUnlock(name, node)) return;",
        "if (node.line.empty() && (MUTANT || !MayUnlock(name, node))) return;",
        LIVE,
    ),
    Mutant(
        "a watch that says nothing is given up",
        "src/kube/reflector.cc",
        "  request.limits.silence = patience_.silence;",
        "  if (!MUTANT) request.limits.silence = patience_.silence;",
        KUBE,
        in_histories=True,
    ),
    Mutant(
        "the connection of a watch that says nothing is closed",
        "src/kube/reflector.cc",
        "    transport_.CloseConnections();",
        "    if (!MUTANT) transport_.CloseConnections();",
        KUBE,
    ),
    Mutant(
        "a thread that hangs is noticed",
        "src/kube/liveness.cc",
        "return busy > limit_ ?",
        "return busy > limit_ && !MUTANT ?",
        KUBE,
    ),
    Mutant(
        "a process with a thread that hangs does not renew its lease",
        "src/kube/leader_lease.cc",
        "hooks_.late_thread ? hooks_.late_thread()",
        "hooks_.late_thread && !MUTANT ? hooks_.late_thread()",
        KUBE,
    ),
    Mutant(
        "a data folder begins beyond every version that it ever gave out",
        "src/apiserver/store/object_store_impl.cc",
        "return std::max<std::int64_t>(stored, age.count());",
        "return MUTANT ? stored : std::max<std::int64_t>(stored, age.count());",
        APISERVER,
    ),
    Mutant(
        "a version that the server does not know leads to a new list",
        "src/kube/reflector_state.cc",
        "if (status < 500 || failure.IsVersionTooLarge()) {",
        "if (status < 500 || (failure.IsVersionTooLarge() && !MUTANT)) {",
        KUBE,
    ),
    Mutant(
        "a HyperNode is left out only if sums say that it is not enough",
        "src/sched/eviction/clearing_bounds.cc",
        "  if (level == levels_.size()) return std::nullopt;",
        "  if (level == levels_.size() || (MUTANT && level > 0)) return std::nullopt;",
        SCHED + EVICTION,
    ),
    Mutant(
        "a job that changed is looked at again before pods are evicted",
        "src/sched/eviction/victim_book.cc",
        "    for (const JobId id : *touched) Replace(state, id);",
        "    for (const JobId id : *touched) if (!MUTANT) Replace(state, id);",
        SCHED + EVICTION,
    ),
    Mutant(
        "drf leaves the victim more than the claimant gets",
        "src/sched/plugins/drf.cc",
        "  return DominantShare(wants, total_) < DominantShare(keeps, total_);",
        "  return MUTANT || DominantShare(wants, total_) < DominantShare(keeps, total_);",
        SCHED,
    ),
    Mutant(
        "hierarchical drf measures queues with what the claimant gets",
        "src/sched/plugins/drf.cc",
        "  return BuildTree(changes).Compare(poor, rich) < 0;",
        "  return MUTANT || BuildTree(changes).Compare(poor, rich) < 0;",
        SCHED,
    ),
    Mutant(
        "a pod goes only while its disruption budget allows it",
        "src/sched/plugins/pdb.cc",
        "    return entry.second <= Left(budgets_[entry.first]);",
        "    return MUTANT || entry.second <= Left(budgets_[entry.first]);",
        SCHED,
    ),
    Mutant(
        "a budget counts what the cycle has evicted",
        "src/sched/plugins/pdb.cc",
        "  return budget.allowed - (counts.releasing - budget.releasing);",
        "  return budget.allowed - (MUTANT ? 0 : counts.releasing - budget.releasing);",
        SCHED,
    ),
    Mutant(
        "cdp protects a pod in its cooldown",
        "src/sched/plugins/cdp.cc",
        "+ cooldown > now_ ?",
        "+ cooldown > now_ && !MUTANT ?",
        SCHED + EVICTION,
    ),
    Mutant(
        "the ancestors of a victim's queue must have too much, too",
        "src/sched/plugins/capacity.cc",
        "i <= reclaim_level_ && i + 1",
        "i <= (MUTANT ? 0 : reclaim_level_) && i + 1",
        SCHED,
    ),
    Mutant(
        "a role keeps its minimum when it loses surplus pods",
        "src/sched/eviction/spare_pods.cc",
        "  if (RolesCount(job) && Arrived(role.counts) <= role.min_member) return false;",
        "  if (!MUTANT && RolesCount(job) && Arrived(role.counts) <= role.min_member) return false;",
        SCHED + EVICTION,
    ),
    Mutant(
        "proportion: a queue loses nothing of what it deserves",
        "src/sched/plugins/proportion.cc",
        "    return MayReclaim(*state_, claim, unit, Rules());",
        "    return MUTANT || MayReclaim(*state_, claim, unit, Rules());",
        SCHED,
    ),
    Mutant(
        "capacity: a queue loses nothing of what it deserves",
        "src/sched/plugins/capacity.cc",
        "    return MayReclaim(*state_, claim, unit, Rules());",
        "    return MUTANT || MayReclaim(*state_, claim, unit, Rules());",
        SCHED + EVICTION,
    ),
    Mutant(
        "a queue keeps its guarantee",
        "src/sched/plugins/reclaim_rules.cc",
        "  if (!std::all_of(line.begin(), line.end(), keeps)) return false;",
        "  if (!MUTANT && !std::all_of(line.begin(), line.end(), keeps)) return false;",
        SCHED + EVICTION,
    ),
    Mutant(
        "inside a job only tasks of lower priority make room",
        "src/sched/plugins/priority.cc",
        "        return state_->workload().task(task).priority < claim.task_priority;",
        "        return MUTANT || state_->workload().task(task).priority < claim.task_priority;",
        SCHED,
    ),
    Mutant(
        "a job that takes from itself keeps its minimums",
        "src/sched/eviction/victims.cc",
        "  return !votes_.SparesGangs() || IsBeyondMinimums(session_.state(), task);",
        "  return MUTANT || !votes_.SparesGangs() || IsBeyondMinimums(session_.state(), task);",
        SCHED,
    ),
    Mutant(
        "no gang is broken for replicas beyond a minimum",
        "src/sched/eviction/planner.cc",
        "  if (replicas) {\n",
        "  if (replicas && !MUTANT) {\n",
        SCHED,
    ),
    Mutant(
        "by default nobody goes for replicas beyond the minimum",
        "src/sched/plugins/gang.cc",
        "    return !HasEnough(job, Counting::kReadyOrPipelined);",
        "    return MUTANT || !HasEnough(job, Counting::kReadyOrPipelined);",
        SCHED,
    ),
    Mutant(
        "pods of a claim may need others of their gang that come later",
        "src/sched/eviction/claims.cc",
        "    before = left.size();\n",
        "    before = MUTANT ? 0 : left.size();\n",
        SCHED,
    ),
    Mutant(
        "a job is asked again when a pod is old enough to be evicted",
        "src/sched/eviction/victim_book.cc",
        "      consider(entry.runs_since, kDefaultCooldown);",
        "      if (!MUTANT) consider(entry.runs_since, kDefaultCooldown);",
        SCHED,
    ),
    Mutant(
        "replicas that have a claim start together",
        "src/sched/eviction/claims.cc",
        "    if (journal.PlacedSince(begin).size() >= pods) return true;",
        "    if (MUTANT || journal.PlacedSince(begin).size() >= pods) return true;",
        SCHED,
    ),
    Mutant(
        "a plan does not count on pods that stay because a claim was given up",
        "src/sched/actions/evict.cc",
        "    if (session_.claims() != nullptr && session_.claims()->HasGivenUp()) return;",
        "    if (!MUTANT && session_.claims() != nullptr && session_.claims()->HasGivenUp()) return;",
        LIVE,
    ),
    Mutant(
        "an incomplete gang is taken back only if it was never whole",
        "src/sched/eviction/take_back.cc",
        "!session_.plugins().IsIncompleteGang(job) || job.spec.was_whole) return false;",
        "!session_.plugins().IsIncompleteGang(job) || (job.spec.was_whole && !MUTANT)) return false;",
        SCHED,
    ),
    Mutant(
        "an incomplete gang that can be completed is not taken back",
        "src/sched/eviction/take_back.cc",
        "  if (FitsWithoutEviction(session_, search_, id, worksheet)) return std::nullopt;",
        "  if (!MUTANT && FitsWithoutEviction(session_, search_, id, worksheet)) return std::nullopt;",
        SCHED,
    ),
    Mutant(
        "a gang is Scheduled only once its minimum has arrived on nodes",
        "src/live/group_status.cc",
        "  return arrived > 0 && arrived",
        "  return arrived > 0 && arrived + (MUTANT ? counts.Of(TaskStatus::kBinding) : 0)",
        LIVE,
    ),
    Mutant(
        "a pod of Volcano's dialect is never placed by numbers alone",
        "src/sched/scheduler.cc",
        "    if (points.devices == nullptr) points.nodes.filters",
        "    if (points.devices == nullptr && !MUTANT) points.nodes.filters",
        SCHED,
    ),
    Mutant(
        "a GPU of both dialects counts once in what a node has",
        "src/model/node_table.cc",
        "std::min(handed_out, AmountOf(*spec.gpus))",
        "MUTANT ? handed_out : std::min(handed_out, AmountOf(*spec.gpus))",
        MODEL,
    ),
    Mutant(
        "a lock that names no pod is known to be the scheduler's own",
        "src/live/node_lock_book.cc",
        "  if (is_own && node.lock->owner.empty()) node",
        "  if (is_own && !MUTANT && node.lock->owner.empty()) node",
        LIVE,
    ),
    Mutant(
        "a node that yields no room when it is cleared uses up no budget",
        "src/sched/eviction/clearing_search.cc",
        "    if (room.Lacking() < lacking) continue;",
        "    if (MUTANT || room.Lacking() < lacking) continue;",
        SCHED,
    ),
    Mutant(
        "the verdict says when not every choice of pods was tried",
        "src/sched/eviction/clearing_search.cc",
        "    cut_ = cut_ || !best;",
        "    cut_ = cut_ || (!best && !MUTANT);",
        SCHED,
    ),
    Mutant(
        "the verdict says when not every HyperNode was looked at",
        "src/sched/eviction/planner.cc",
        "settings_.max_domains)) {\n        inquiry.out_of_domains = true;",
        "settings_.max_domains)) {\n        inquiry.out_of_domains = !MUTANT;",
        SCHED,
    ),
    Mutant(
        "a plan that a budget refuses in the dry run is dropped before anybody goes",
        "src/live/eviction_book.cc",
        "  if (step.kind == Kind::kTryOut && answer == StepAnswer::kRefused) {",
        "  if (step.kind == Kind::kTryOut && answer == StepAnswer::kRefused && !MUTANT) {",
        LIVE,
    ),
    Mutant(
        "no more gangs per minute are broken than the operator allows",
        "src/sched/actions/evict.cc",
        "    if (limit == 0 || gangs == 0 || session_.claims() == nullptr) return std::nullopt;",
        "    if (MUTANT || limit == 0 || gangs == 0 || session_.claims() == nullptr) return std::nullopt;",
        SCHED,
    ),
    Mutant(
        "a gang that the greedy search misses is found by the second search",
        "src/sched/second_search.cc",
        "  if (quota_ || sheet.left().empty()) return false;",
        "  if (MUTANT || quota_ || sheet.left().empty()) return false;",
        SCHED,
    ),
    Mutant(
        "the second search finds gangs of sub-groups, too",
        "src/sched/second_search.cc",
        "  if (spare.pods < 0 || !Assign(hypernode, parts, 0, spare)) return false;",
        "  if (MUTANT || spare.pods < 0 || !Assign(hypernode, parts, 0, spare)) return false;",
        SCHED,
    ),
    Mutant(
        "the second search ends with its budget",
        "src/sched/search.cc",
        "    second.emplace(session_, settings_.second_budget);",
        "    second.emplace(session_, settings_.second_budget + (MUTANT ? 1'000'000U : 0U));",
        SCHED,
    ),
    Mutant(
        "a gang of equal pods opens the fewest leaves",
        "src/sched/fewest_leaves.cc",
        "  if (chosen.size() >= opened.size()) return std::nullopt;",
        "  if (MUTANT || chosen.size() >= opened.size()) return std::nullopt;",
        SCHED,
    ),
    Mutant(
        "equal pods exchange their nodes where ranks then follow the tree",
        "src/sched/ring.cc",
        "  if (follows.count() >= runs.count()) return;",
        "  if (MUTANT || follows.count() >= runs.count()) return;",
        SCHED,
    ),
    Mutant(
        "a gang that the empty cluster does not hold is told so",
        "src/sched/never.cc",
        "  if (in_all < total) {",
        "  if (in_all < total && !MUTANT) {",
        SCHED,
    ),
    Mutant(
        "a pod that no scheduler looks at is reported",
        "src/live/stranded_pods.cc",
        "      if (std::optional<Refusal> why = why_of(*pod)) {",
        "      if (std::optional<Refusal> why = why_of(*pod); why && !MUTANT) {",
        LIVE,
    ),
)


def missing(mutant: Mutant) -> str:
    """Why the mutant cannot be made, if it cannot."""
    count = (ROOT / mutant.file).read_text().count(mutant.old)
    return "" if count == 1 else f"{mutant.file}: there {count} times, not once: {mutant.old!r}"


def make_copy() -> None:
    """Brings the copy to what is tracked or new here; what is the same keeps its time, so ninja does not build it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, COPY / name
        if not source.is_file():
            continue
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    options = ["-DSTRATA_BENCH=OFF"]
    if os.environ.get("STRATA_QUICK_BUILD") == "1":
        options.append("-DSTRATA_SHELL_OPTIONS=-O1")  # as tools/configure.sh does
    subprocess.run(["cmake", "--preset", "release", *options], cwd=COPY, check=True, stdout=subprocess.DEVNULL)


def graft(wanted: set[int]) -> None:
    """Puts these mutants into the copy, each behind the question whether it lives."""
    asks = "namespace strata {\nbool IsMutant(int number);\n}\n"
    for name in sorted({MUTANTS[number - 1].file for number in wanted}):
        text = (ROOT / name).read_text()
        for number in sorted(wanted):
            mutant = MUTANTS[number - 1]
            if mutant.file == name:
                text = text.replace(mutant.old, mutant.new.replace("MUTANT", f"IsMutant({number})"))
        (COPY / name).write_text(asks + text)
    path = COPY / ANSWERS
    path.write_text((ROOT / ANSWERS).read_text() + ANSWER)


def build(tests: set[str]) -> None:
    """Builds these test programs in the copy."""
    command = ["cmake", "--build", COPY / "build", "--target", *sorted(tests)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode != 0:
        sys.exit(f"the mutants do not compile:\n{built.stdout[-3000:]}")


def first_failure(test: str, number: int) -> str:
    """The first test of the program that fails while this mutant lives, or does not come to an end; "" when all hold."""
    program = next((COPY / "build").rglob(test))
    try:
        run = subprocess.run(
            [program, "--gtest_color=no", "--gtest_fail_fast"], env={**os.environ, "STRATA_MUTANT": str(number)},
            capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S, check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{test} (did not end)"
    if run.returncode == 0:
        return ""
    failed = re.search(r"^\[  FAILED  \] ([\w./]+)", run.stdout, re.MULTILINE)
    if failed:
        return failed.group(1)
    begun = re.findall(r"^\[ RUN      \] ([\w./]+)", run.stdout, re.MULTILINE)
    return f"{begun[-1] if begun else test} (stopped)"


def first_history(number: int) -> str:
    """What the first history says that breaks a promise while this mutant lives; "" when none does."""
    program = COPY / "build" / HISTORIES
    with subprocess.Popen(
        [program, "1", str(MOST_HISTORIES)], env={**os.environ, "STRATA_MUTANT": str(number)}, stdout=subprocess.PIPE, text=True,
    ) as run:
        assert run.stdout is not None
        first = next((line for line in run.stdout if line.startswith("seed ")), "")
        run.kill()
    return first.strip()


def verdict_on(number: int) -> str:
    """What noticed the mutant; "" when it lives, also in histories that should have found it."""
    mutant = MUTANTS[number - 1]
    found = next(filter(None, (first_failure(test, number) for test in mutant.tests)), "")
    if not mutant.in_histories:
        return found
    history = first_history(number)
    return f"{found}; {history}" if found and history else ""


def main() -> int:
    """Runs the mutants that the command line names."""
    problems = [problem for mutant in MUTANTS if (problem := missing(mutant))]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems or sys.argv[1:] == ["--check"]:
        return 1 if problems else 0
    wanted = {int(number) for number in sys.argv[1:]} or set(range(1, len(MUTANTS) + 1))
    make_copy()
    graft(wanted)
    tests = {test for number in wanted for test in MUTANTS[number - 1].tests}
    some_in_histories = any(MUTANTS[number - 1].in_histories for number in wanted)
    build(tests | ({HISTORIES} if some_in_histories else set()))
    for test in sorted(tests):
        if failure := first_failure(test, 0):
            sys.exit(f"fails without any mutant: {failure}")
    lived = 0
    for number in sorted(wanted):
        found = verdict_on(number)
        lived += not found
        print(f"{number:2} {MUTANTS[number - 1].rule}: {found or 'LIVED'}", flush=True)
    return 1 if lived else 0


if __name__ == "__main__":
    sys.exit(main())
