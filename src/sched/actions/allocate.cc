#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sched/actions/actions.h"
#include "sched/job_queues.h"
#include "sched/plugins/queue_rules.h"
#include "sched/verdict.h"

namespace strata {
namespace {

// The HyperNodes a job and its sub-jobs are known to span, to be put back when a search comes to
// nothing that lasts.
struct Span {
  std::string job;
  std::vector<std::string> sub_jobs;

  explicit Span(const Job& the_job) : job(the_job.allocated_hypernode) {
    for (const SubJob& sub_job : the_job.sub_jobs) sub_jobs.push_back(sub_job.allocated_hypernode);
  }
  // Puts back all but what the sub-jobs of `lasting` came to; the job's, if there are none.
  void Restore(ClusterState& state, JobId id, const std::set<std::size_t>& lasting) const {
    if (lasting.empty()) state.SetAllocatedHyperNode(id, job);
    for (std::size_t i = 0; i < sub_jobs.size(); ++i) {
      if (!lasting.contains(i)) state.SetAllocatedHyperNode(id, i, sub_jobs[i]);
    }
  }
};

// Why the job takes no part in this cycle, if it does not.
std::optional<Refusal> Unfit(const Session& session, JobId id) {
  const Job& job = session.state().job(id);
  if (!job.queue.valid()) return QueueNotFound(job);
  if (auto refusal = session.ImpossibleTopology(id)) return refusal;
  return session.JobInvalid(job);
}

class Allocation {
 public:
  Allocation(Session& session, Search& search)
      : session_(session), search_(search), queues_(session) {}

  void Run() {
    Collect();
    while (const auto queue = queues_.TakeQueue()) {
      if (session_.Overused(*queue)) {
        DropQueue(*queue);
        continue;
      }
      const JobId id = queues_.TakeJob(*queue);
      if (TakeTurn(id)) queues_.Add(id);
      queues_.PutBack(*queue);
    }
  }

 private:
  void Collect() {
    const bool admission = session_.HasAction("enqueue");
    for (const JobId id : session_.state().WaitingJobs()) {
      const bool outside = session_.state().job(id).phase == JobPhase::kPending;
      if (outside && (admission || !Admit(id))) continue;
      Worksheet worksheet(session_, id);
      auto refusal = Unfit(session_, id);
      if (!refusal && worksheet.empty()) refusal = ExplainGates(session_, id);
      if (refusal) session_.SetVerdict(id, *refusal);
      if (refusal || worksheet.empty()) continue;
      worksheets_.emplace(id, std::move(worksheet));
      queues_.Add(id);
    }
  }

  // Lets the job in where no other action does; false when its queue is not open.
  bool Admit(JobId id) {
    const Job& job = session_.state().job(id);
    if (!job.queue.valid()) return true;  // said below
    if (auto closed = RefuseIfClosedTo(session_.state(), job)) {
      session_.SetVerdict(id, std::move(*closed));
      return false;
    }
    session_.SetPhase(id, JobPhase::kInqueue);
    return true;
  }

  // True when the job got something and has tasks left: it comes again after others had their turn.
  bool TakeTurn(JobId id) {
    ClusterState& state = session_.state();
    Worksheet& worksheet = worksheets_.at(id);
    const Span span(state.job(id));
    Search::Outcome outcome = search_.Run(id, worksheet, Pass::kReady);
    if (!outcome.ok && state.HasReleasing()) outcome = search_.Run(id, worksheet, Pass::kWaiting);
    if (!outcome.ok) {
      session_.SetVerdict(id, ExplainUnplaced(session_, search_, id, worksheet, outcome.quota));
      return false;
    }
    if (!session_.JobReady(state.job(id))) {
      session_.SetVerdict(id, ExplainWaiting(session_, id));
      state.Hold();
      span.Restore(state, id, {});
      return false;
    }
    span.Restore(state, id, SubJobsToBind());  // pods beyond the minimum may only wait
    session_.Commit(id);
    if (!worksheet.empty()) return true;
    ExplainPassedOver(id);
    return false;
  }

  // The sub-jobs to whose tasks the turn gave a node, rather than a place to wait for.
  [[nodiscard]] std::set<std::size_t> SubJobsToBind() const {
    std::set<std::size_t> sub_jobs;
    auto last = sub_jobs.end();
    for (const TaskId id : session_.state().ChangedSince(0)) {
      const Task& task = session_.state().task(id);
      if (task.status != TaskStatus::kAllocated) continue;
      if (last == sub_jobs.end() || *last != task.sub_job) {
        last = sub_jobs.insert(task.sub_job).first;
      }
    }
    return sub_jobs;
  }

  // Says why tasks that the turns of a job passed over, having no place for them, are pending.
  void ExplainPassedOver(JobId id) {
    const Job& job = session_.state().job(id);
    if (job.counts.Of(TaskStatus::kPending) == 0) return;
    const Worksheet left(session_, id);
    if (left.empty()) {
      if (auto gates = ExplainGates(session_, id)) session_.SetVerdict(id, std::move(*gates));
      return;
    }
    std::optional<Refusal> quota;
    for (const TaskId task : left.AllLeft(session_)) {
      const ClassId class_id = session_.state().task(task).class_id;
      if (!quota) {
        quota = session_.Exhausted(job.queue, session_.state().task_class(class_id).request);
      }
    }
    session_.SetVerdict(id, ExplainUnplaced(session_, search_, id, left, quota));
  }

  void DropQueue(QueueId queue) {
    const Queue& the_queue = session_.state().queue(queue);
    for (const JobId id : queues_.Left(queue)) {
      session_.SetVerdict(
          id,
          {"QueueOverused",
           fmt::format("queue \"{}\" already holds all that it deserves", the_queue.spec.name)});
    }
  }

  Session& session_;
  Search& search_;
  JobQueues queues_;
  std::map<JobId, Worksheet> worksheets_;
};

}  // namespace

void Allocate(Session& session, Search& search) {
  Allocation(session, search).Run();
}

}  // namespace strata
