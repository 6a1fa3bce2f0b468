#include "replay/checker.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace strata::replay {

Checker::Checker(const Workload& workload, const Fabric& fabric)
    : workload_(workload),
      fabric_(fabric),
      used_(fabric.nodes.size()),
      ended_(workload.jobs.size()) {}

void Checker::Fault(std::string text) {
  constexpr std::size_t kMax = 100;
  if (faults_.size() < kMax) faults_.push_back(std::move(text));
}

void Checker::OnStart(std::uint32_t job,
                      const std::vector<NodeIndex>& nodes,
                      Millis now,
                      Millis end) {
  const Workload::Job& wanted = workload_.jobs[job];
  if (now < wanted.submit) Fault(fmt::format("job {} starts at {} before it came", job, now));
  if (now < now_) Fault(fmt::format("job {} starts at {}, in the past", job, now));
  if (end - now < wanted.duration) Fault(fmt::format("job {} gets less time than it needs", job));
  if (ended_[job] > 0 || running_.contains(job)) Fault(fmt::format("job {} starts twice", job));
  now_ = std::max(now_, now);
  CheckPlace(job, nodes, now);
  running_.insert_or_assign(job, Running{nodes, end});
}

void Checker::CheckPlace(std::uint32_t job, const std::vector<NodeIndex>& nodes, Millis now) {
  const JobClass& wanted = workload_.classes[workload_.jobs[job].job_class];
  if (nodes.size() != static_cast<std::size_t>(wanted.pods)) {
    Fault(fmt::format("job {} starts with {} of {} pods", job, nodes.size(), wanted.pods));
  }
  std::set<DomainIndex> domains;
  const bool limited = wanted.wish == Wish::kHard && wanted.max_level < fabric_.levels.size();
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const NodeIndex node = nodes[rank];
    if (node >= fabric_.nodes.size()) {
      Fault(fmt::format("job {} gets node {}, which does not exist", job, node));
      continue;
    }
    if (!wanted.Accepts(node)) {
      Fault(fmt::format("job {} gets node {} of another model", job, node));
    }
    used_[node] += wanted.ShapeOf(static_cast<std::int32_t>(rank)).gpus;
    if (used_[node] > fabric_.nodes[node].gpus) {
      Fault(fmt::format("node {} has {} of {} GPUs in use at {}",
                        node,
                        used_[node],
                        fabric_.nodes[node].gpus,
                        now));
    }
    if (limited) domains.insert(fabric_.levels[wanted.max_level].of_node[node]);
  }
  if (domains.size() > 1 || domains.contains(Fabric::kNoDomain)) {
    Fault(fmt::format("job {} lies above its highest tier", job));
  }
}

void Checker::OnEnd(std::uint32_t job, Millis now) {
  const auto running = running_.find(job);
  if (running == running_.end()) {
    Fault(fmt::format("job {} ends and does not run", job));
    return;
  }
  if (now != running->second.end) Fault(fmt::format("job {} ends at a wrong time, {}", job, now));
  if (now < now_) Fault(fmt::format("job {} ends at {}, in the past", job, now));
  now_ = std::max(now_, now);
  const JobClass& wanted = workload_.classes[workload_.jobs[job].job_class];
  const std::vector<NodeIndex>& nodes = running->second.nodes;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (nodes[rank] >= used_.size()) continue;
    used_[nodes[rank]] -= wanted.ShapeOf(static_cast<std::int32_t>(rank)).gpus;
  }
  ++ended_[job];
  running_.erase(running);
}

void Checker::OnMoment(const Room& room, Millis now) {
  std::vector<std::int32_t> used(fabric_.nodes.size());
  for (const auto& [job, running] : running_) {
    const JobClass& wanted = workload_.classes[workload_.jobs[job].job_class];
    for (std::size_t rank = 0; rank < running.nodes.size(); ++rank) {
      if (running.nodes[rank] >= used.size()) continue;
      used[running.nodes[rank]] += wanted.ShapeOf(static_cast<std::int32_t>(rank)).gpus;
    }
    if (running.end < now) Fault(fmt::format("job {} runs at {} after its end", job, now));
  }
  std::int64_t free = 0;
  for (NodeIndex node = 0; node < used.size(); ++node) {
    const std::int32_t left = fabric_.nodes[node].gpus - used[node];
    free += left;
    if (left != room.FreeGpus(node)) {
      Fault(fmt::format(
          "node {} has {} free GPUs at {}, the sums say {}", node, left, now, room.FreeGpus(node)));
    }
  }
  if (free != room.FreeGpus()) {
    Fault(fmt::format("{} GPUs are free at {}, the sums say {}", free, now, room.FreeGpus()));
  }
}

void Checker::OnFinish() {
  for (std::uint32_t job = 0; job < ended_.size(); ++job) {
    const int wanted = workload_.jobs[job].fits ? 1 : 0;
    if (ended_[job] != wanted) Fault(fmt::format("job {} ended {} times", job, ended_[job]));
  }
}

}  // namespace strata::replay
