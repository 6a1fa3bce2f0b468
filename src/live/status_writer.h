#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "convert/cluster_feed.h"
#include "kube/event_recorder.h"
#include "kube/mailbox.h"
#include "live/call_queue.h"
#include "live/group_status.h"
#include "live/retry_times.h"
#include "sched/cycle_result.h"

namespace strata::live {

// Tells the API server what a cycle came to: status and events of PodGroups and pods, what queues
// hold. Only what differs from what it was is written, and nothing is said twice while it stays the
// same. What changes all the time (counts of pods, that a gang has its places, what a queue holds)
// waits for a second, in which more of it comes; that pods of a gang are missing is told when no
// more came for a second. What the server refuses is tried again later and later.
//
// On the thread that schedules.
class StatusWriter {
 public:
  struct Tools {
    CallQueue& calls;
    kube::EventRecorder& events;
    const Clock& clock;
    std::function<net::SteadyTime()> now;
    kube::Random random;
  };
  // All of it must outlive it; `mailbox` is where the answers come.
  StatusWriter(Tools tools, std::shared_ptr<kube::Mailbox> mailbox);

  // After a cycle; `feed` is as it left it. COST: what changed since the last time.
  void Write(const ClusterFeed& feed, const CycleResult& cycle, std::uint64_t cycle_number);
  // For each version of a group that the watch shows, so that none between two cycles is missed.
  void See(const ClusterState& state, const objects::PodGroup& group);
  void See(const objects::Queue& queue);
  // Writes what was put off and is due.
  void WriteLate(const ClusterFeed& feed);
  // When there will be something for that.
  [[nodiscard]] std::optional<net::SteadyTime> NextWrite() const { return next_write_; }

  // Tells a pod that no cycle looks at why it waits.
  void TellPod(const objects::Pod& pod, const Refusal& why) { WritePod(pod, why); }
  // Tells the PodGroup and the controller of such a pod, by Events.
  void TellOwners(const ClusterFeed& feed, const objects::Pod& pod, const Refusal& why);

  // Adds to the condition of a job that still has this verdict what would let it start.
  void Advise(const ClusterFeed& feed,
              const std::string& job,
              const Refusal& verdict,
              const std::string& advice);

 private:
  struct Group {
    std::string uid;
    GroupStatus status;                           // as last written, or as seen
    bool seen = false;                            // the watch has shown it since it was written
    std::optional<net::SteadyTime> noticed{};     // since when it differs, and may wait
    std::pair<std::string, std::int32_t> told{};  // the reason that so many pods know
  };

  struct Refused {
    Refusal verdict;
    net::SteadyTime since{};
    std::string advice{};  // what would let it start; empty when that is not known, or is nothing
  };

  using Amounts = std::map<std::string, std::string>;
  // What was last written of a queue.
  struct QueueStatus {
    std::string patch;
    Amounts allocated;
    bool seen = false;  // the watch has shown it since
  };

  // Follows what the cycle warns of; the names of the jobs whose warnings changed go to `changed`.
  void FollowWarnings(const CycleResult& cycle, std::set<std::string>& changed);
  // The jobs about which there may be something to say that was not said yet.
  [[nodiscard]] std::set<JobId> Concerned(const ClusterState& state, const CycleResult& cycle);
  void WriteGroups(const ClusterFeed& feed, const std::set<JobId>& jobs);
  void WriteGroup(const ClusterFeed& feed, JobId id);
  // What is known of a group, now that it looks so.
  Group& Look(const objects::PodGroup& group, JobId id);
  // The verdict of the job, if it has one and that has been so for long enough.
  [[nodiscard]] const Refusal* ToBeTold(JobId id);
  // True when it was written, or need not be.
  bool WriteStatus(const objects::PodGroup& group, JobId id, GroupStatus next);
  void TellOf(const objects::PodGroup& group, const GroupStatus& before, const GroupStatus& after);
  void WritePods(const ClusterFeed& feed, const Job& job, const Refusal& verdict);
  void WritePod(const objects::Pod& pod, const Refusal& verdict);
  void WriteQueues(const ClusterFeed& feed);
  // True when it was written.
  bool WriteQueue(const std::string& name, std::string patch, const Amounts& allocated);
  void PutOff(net::SteadyTime until);
  // When it fails, `forget` undoes what was thought to be written; it is written again.
  void Send(const std::string& key, kube::Call call, std::function<void()> forget);

  Tools tools_;
  std::shared_ptr<kube::Mailbox> mailbox_;
  RetryTimes retries_;
  std::string cycle_;                 // the number of the last one
  std::uint64_t seen_ = 0;            // the version of jobs up to which all has been said
  std::map<JobId, Refused> refused_;  // the verdicts of the last cycle
  std::shared_ptr<const std::vector<CycleResult::Warning>> last_warnings_;
  std::map<std::string, GroupWarnings> warnings_;  // by name of the job
  std::map<JobId, Group> groups_;
  std::set<JobId> late_;                       // groups whose status was put off
  std::map<std::string, QueueStatus> queues_;  // by name
  net::SteadyTime queues_due_ = net::SteadyTime::min();
  std::optional<net::SteadyTime> next_write_;
};

// What to put into status.allocated of every queue: what its jobs hold and what those of the queues
// below it do, by resource. Pure.
[[nodiscard]] std::map<std::string, std::map<std::string, std::string>> AllocatedOfQueues(
    const ClusterState& state);

}  // namespace strata::live
