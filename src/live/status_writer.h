#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "convert/cluster_feed.h"
#include "kube/event_recorder.h"
#include "live/call_queue.h"
#include "live/group_status.h"
#include "live/mailbox.h"
#include "sched/scheduler.h"

namespace strata::live {

// Tells the API server what a cycle came to: status and events of PodGroups and pods, what queues
// hold. Only what differs from what it was is written, and nothing is said twice while it stays the
// same.
//
// On the thread that schedules.
class StatusWriter {
 public:
  // All of it must outlive it; `mailbox` is where the answers come.
  StatusWriter(CallQueue& calls,
               kube::EventRecorder& events,
               std::shared_ptr<Mailbox> mailbox,
               const Clock& clock);

  // After a cycle; `feed` is as it left it.
  void Write(const ClusterFeed& feed, const CycleResult& cycle, std::uint64_t cycle_number);
  // A write has failed since this was last asked, and what it should have said is still to be
  // written.
  [[nodiscard]] bool TakeUnfinished() { return std::exchange(unfinished_, false); }

 private:
  struct Group {
    std::string uid;
    GroupStatus status;                           // as last written, or as first seen
    std::pair<std::string, std::int32_t> told{};  // the reason that so many pods know
  };

  void WriteGroup(const ClusterFeed& feed, JobId id, const Refusal* verdict, const Moment& moment);
  void TellOf(const objects::PodGroup& group, const GroupStatus& before, const GroupStatus& after);
  void WritePods(const ClusterFeed& feed, const Job& job, const Refusal& verdict);
  void WritePod(const objects::Pod& pod, const Refusal& verdict);
  void WriteQueues(const ClusterFeed& feed);
  // Forgets what was thought to be written, so that the next cycle writes it again.
  void Send(const std::string& key, kube::Call call, std::function<void()> forget);

  CallQueue& calls_;
  kube::EventRecorder& events_;
  std::shared_ptr<Mailbox> mailbox_;
  const Clock& clock_;
  std::map<std::string, Group> groups_;        // by "namespace/podgroup"
  std::map<std::string, std::string> queues_;  // name -> the patch last written
  bool unfinished_ = false;
};

// What to put into status.allocated of every queue: what its jobs hold and what those of the queues
// below it do, by resource. Pure.
[[nodiscard]] std::map<std::string, std::map<std::string, std::string>> AllocatedOfQueues(
    const ClusterState& state);

}  // namespace strata::live
