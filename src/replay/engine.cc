#include "replay/engine.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "model/fragmentation.h"
#include "replay/checker.h"
#include "replay/policies/trial.h"
#include "replay/room.h"
#include "replay/waiting.h"

namespace strata::replay {
namespace {

constexpr std::size_t kReportEvery = 4096;  // ends between two calls of go_on
constexpr Millis kNoEvent = std::numeric_limits<Millis>::max();

class Engine {
 public:
  Engine(const Workload& workload,
         const Fabric& fabric,
         const EngineOptions& options,
         Policy& policy)
      : workload_(workload),
        options_(options),
        policy_(policy),
        room_(fabric),
        waiting_(workload),
        nodes_of_(workload.jobs.size()) {
    result_.runs.resize(workload.jobs.size());
    if (options.keep_places) result_.places.resize(workload.jobs.size());
    total_ = room_.FreeGpus();
    if (options.check) checker_.emplace(workload, fabric);
  }

  EngineResult Run() {
    while (!result_.stopped) {
      const Millis next = std::min(NextEnd(), NextArrival());
      if (next == kNoEvent) break;
      Integrate(next);
      EndJobs();
      Arrive();
      Schedule();
      Note();
    }
    if (checker_ && !result_.stopped) checker_->OnFinish();
    if (checker_) result_.faults = checker_->faults();
    return std::move(result_);
  }

 private:
  using End = std::pair<Millis, std::uint32_t>;  // when, which job

  [[nodiscard]] Millis NextEnd() const { return ends_.empty() ? kNoEvent : ends_.top().first; }
  [[nodiscard]] Millis NextArrival() const {
    return next_ < workload_.jobs.size() ? workload_.jobs[next_].submit : kNoEvent;
  }
  [[nodiscard]] const JobClass& ClassOf(std::uint32_t job) const {
    return workload_.classes[workload_.jobs[job].job_class];
  }

  // What was true since the last moment goes into the integrals.
  void Integrate(Millis next) {
    const Millis span = next - now_;
    for (std::size_t i = 0; i < kBlockedKinds; ++i) result_.blocked[i] += blocked_[i] * span;
    for (std::size_t i = 0; i < kPlaceable.size(); ++i) {
      result_.placeable[i] += placeable_[i] * span;
      result_.rack_loss[i] += rack_loss_[i] * static_cast<double>(span);
    }
    result_.gini += gini_ * static_cast<double>(span);
    now_ = next;
  }

  void EndJobs() {
    bool any = false;
    while (NextEnd() <= now_) {
      const std::uint32_t job = ends_.top().second;
      ends_.pop();
      any = true;
      const JobClass& job_class = ClassOf(job);
      for (std::size_t rank = 0; rank < nodes_of_[job].size(); ++rank) {
        room_.Give(nodes_of_[job][rank], job_class.ShapeOf(static_cast<std::int32_t>(rank)));
      }
      if (options_.keep_places) result_.places[job] = nodes_of_[job];
      nodes_of_[job] = {};
      if (options_.discipline == Discipline::kEasy) promised_.erase({PromisedEnd(job), job});
      policy_.End(job);
      if (checker_) checker_->OnEnd(job, now_);
      if (++over_ % kReportEvery == 0 && options_.go_on && !options_.go_on(over_)) {
        result_.stopped = true;
      }
    }
    if (any) waiting_.Reconsider();
  }

  void Arrive() {
    for (; NextArrival() <= now_; ++next_) {
      if (!workload_.jobs[next_].fits) continue;
      waiting_.Add(static_cast<std::uint32_t>(next_));
      queued_ += ClassOf(static_cast<std::uint32_t>(next_)).TotalGpus();
    }
  }

  void Schedule() {
    if (options_.discipline != Discipline::kSkip) {
      ScheduleInOrder();
      return;
    }
    while (const auto job = waiting_.NextToTry()) {
      if (!TryStart(*job)) waiting_.Refuse(workload_.jobs[*job].job_class);
    }
  }

  // The first of all jobs, as long as it gets a place; the others may only fill the gap before it.
  void ScheduleInOrder() {
    while (const auto head = waiting_.Head()) {
      const std::uint32_t job_class = workload_.jobs[*head].job_class;
      if (!waiting_.Refused(job_class) && TryStart(*head)) continue;
      waiting_.Refuse(job_class);
      if (options_.discipline == Discipline::kEasy) Backfill(*head);
      return;
    }
  }

  // No policy has a place where this says no.
  [[nodiscard]] bool MayFit(const JobClass& wanted) const {
    if (room_.FreeGpus() < wanted.TotalGpus()) return false;
    const std::int32_t equal = wanted.pod == wanted.last ? wanted.pods : wanted.pods - 1;
    return room_.MostSlots(wanted.pod.gpus) >= equal;
  }

  std::vector<NodeIndex> AskPolicy(std::uint32_t job) {
    const JobClass& wanted = ClassOf(job);
    if (!MayFit(wanted)) return {};
    ++result_.decisions;
    return policy_.Place({.job = job, .job_class = &wanted, .now = now_}, room_);
  }

  bool TryStart(std::uint32_t job) {
    std::vector<NodeIndex> nodes = AskPolicy(job);
    if (nodes.empty()) return false;
    Start(job, std::move(nodes));
    return true;
  }

  void Start(std::uint32_t job, std::vector<NodeIndex> nodes) {
    JobRun& run = result_.runs[job];
    const JobClass& wanted = ClassOf(job);
    if (wanted.pods > 1) {
      const std::size_t could = LowestLevel(wanted, room_);
      run.level_could = static_cast<std::uint16_t>(could);
    }
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      room_.Take(nodes[rank], wanted.ShapeOf(static_cast<std::int32_t>(rank)));
    }
    Measure(nodes, run);
    double work = static_cast<double>(workload_.jobs[job].duration);
    if (run.level > 0 && wanted.pods > 1) work *= options_.crossing_slowdown;
    run.start = now_;
    run.end = now_ + options_.startup + static_cast<Millis>(std::ceil(work));
    ends_.emplace(run.end, job);
    if (options_.discipline == Discipline::kEasy) promised_.emplace(PromisedEnd(job), job);
    if (checker_) checker_->OnStart(job, nodes, now_, run.end);
    nodes_of_[job] = std::move(nodes);
    waiting_.Remove(job);
    queued_ -= wanted.TotalGpus();
  }

  void Measure(const std::vector<NodeIndex>& nodes, JobRun& run) const {
    std::size_t level = 0;
    const auto together = [&](std::size_t at) {
      const DomainIndex first = room_.DomainOf(at, nodes.front());
      return first != Fabric::kNoDomain &&
             std::all_of(nodes.begin(), nodes.end(), [&](NodeIndex node) {
               return room_.DomainOf(at, node) == first;
             });
    };
    while (!together(level)) ++level;
    run.level = static_cast<std::uint16_t>(level);
    std::vector<DomainIndex> leaves;
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      const DomainIndex leaf = room_.DomainOf(0, nodes[rank]);
      const NodeIndex next = nodes[(rank + 1) % nodes.size()];
      if (leaf != room_.DomainOf(0, next)) ++run.crossings;
      leaves.push_back(leaf);
    }
    std::sort(leaves.begin(), leaves.end());
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    run.leaves = static_cast<std::int32_t>(leaves.size());
  }

  [[nodiscard]] Millis PromisedEnd(std::uint32_t job) const {
    return result_.runs[job].start + options_.startup + workload_.jobs[job].walltime;
  }

  // Starts jobs behind `head`, which has no place, as long as it can start when it could without
  // them: at the first moment at which enough of what runs now is over, if all keep their promise.
  void Backfill(std::uint32_t head) {
    Room later = room_;
    Millis reserved = kNoEvent;
    for (const auto& [end, job] : promised_) {
      const JobClass& gone = ClassOf(job);
      for (std::size_t rank = 0; rank < nodes_of_[job].size(); ++rank) {
        later.Give(nodes_of_[job][rank], gone.ShapeOf(static_cast<std::int32_t>(rank)));
      }
      if (LowestLevel(ClassOf(head), later) <= later.levels()) {
        reserved = std::max(end, now_);
        break;
      }
    }
    while (const auto job = waiting_.NextToTry()) {
      if (!TryBackfill(*job, head, reserved, later)) {
        waiting_.Refuse(workload_.jobs[*job].job_class);
      }
    }
    // Another moment, another reservation: those that were refused for its sake may be asked again.
    waiting_.Reconsider();
    waiting_.Refuse(workload_.jobs[head].job_class);
  }

  bool TryBackfill(std::uint32_t job, std::uint32_t head, Millis reserved, Room& later) {
    std::vector<NodeIndex> nodes = AskPolicy(job);
    if (nodes.empty()) return false;
    if (now_ + options_.startup + workload_.jobs[job].walltime > reserved) {
      const JobClass& wanted = ClassOf(job);
      for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
        later.Take(nodes[rank], wanted.ShapeOf(static_cast<std::int32_t>(rank)));
      }
      if (LowestLevel(ClassOf(head), later) > later.levels()) {
        for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
          later.Give(nodes[rank], wanted.ShapeOf(static_cast<std::int32_t>(rank)));
        }
        policy_.End(job);
        return false;
      }
    }
    Start(job, std::move(nodes));
    return true;
  }

  [[nodiscard]] BlockedBy WhyBlocked(std::uint32_t job_class) const {
    const JobClass& wanted = workload_.classes[job_class];
    if (room_.FreeGpus() < wanted.TotalGpus()) return BlockedBy::kCapacity;
    if (!MayFit(wanted)) return BlockedBy::kFragmentation;
    if (!waiting_.Refused(job_class)) return BlockedBy::kOrder;
    return wanted.wish == Wish::kHard ? BlockedBy::kTopology : BlockedBy::kFragmentation;
  }

  void Note() {
    blocked_ = {};
    for (const std::uint32_t job_class : waiting_.busy()) {
      const auto jobs = static_cast<std::int64_t>(waiting_.OfClass(job_class));
      blocked_[static_cast<std::size_t>(WhyBlocked(job_class))] +=
          jobs * workload_.classes[job_class].TotalGpus();
    }
    slots_.resize(room_.DomainCount(0));
    for (DomainIndex leaf = 0; leaf < slots_.size(); ++leaf) {
      slots_[leaf] = room_.WholeNodes(0, leaf);
    }
    for (std::size_t i = 0; i < kPlaceable.size(); ++i) {
      placeable_[i] = PlaceableGangs(slots_, kPlaceable[i]);
      rack_loss_[i] = RackLoss(slots_, kPlaceable[i]);
    }
    gini_ = Gini(slots_);
    if (result_.moments.empty() || result_.moments.back().at != now_) {
      result_.moments.emplace_back();
    }
    result_.moments.back() = {.at = now_,
                              .held = total_ - room_.FreeGpus(),
                              .stranded = room_.StrandedGpus(),
                              .waiting = static_cast<std::int64_t>(waiting_.size()),
                              .queued = queued_};
    if (checker_) checker_->OnMoment(room_, now_);
  }

  const Workload& workload_;
  const EngineOptions& options_;
  Policy& policy_;
  Room room_;
  Waiting waiting_;
  std::optional<Checker> checker_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::set<End> promised_;                        // what runs, by promised end; for kEasy only
  std::vector<std::vector<NodeIndex>> nodes_of_;  // by job, while it runs
  std::size_t next_ = 0;                          // the first job that has not come
  std::size_t over_ = 0;
  std::int64_t total_ = 0;
  std::int64_t queued_ = 0;
  Millis now_ = 0;
  std::array<std::int64_t, kBlockedKinds> blocked_{};
  std::array<std::int64_t, kPlaceable.size()> placeable_{};
  std::array<double, kPlaceable.size()> rack_loss_{};
  double gini_ = 0;
  std::vector<std::int64_t> slots_;  // wholly free nodes by leaf
  EngineResult result_;
};

}  // namespace

EngineResult Replay(const Workload& workload,
                    const Fabric& fabric,
                    const EngineOptions& options,
                    Policy& policy) {
  return Engine(workload, fabric, options, policy).Run();
}

}  // namespace strata::replay
