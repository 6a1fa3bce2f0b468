#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "convert/cluster_feed.h"
#include "kube/event_recorder.h"
#include "kube/mailbox.h"
#include "live/call_queue.h"
#include "live/eviction_book.h"
#include "live/metrics.h"
#include "obs/log.h"
#include "sched/cycle_result.h"
#include "sched/eviction/claim_book.h"

namespace strata::live {

// Carries out what a cycle decided about evictions: events, nominations, conditions, deletions. The
// decisions are EvictionBook's. What a former leader has begun is gone on with.
//
// On the thread that schedules.
class Evictor {
 public:
  struct Tools {
    CallQueue& calls;
    kube::EventRecorder& events;
    ClusterFeed& feed;
    SchedulerMetrics& metrics;
    const obs::Log& log;
    const Clock& clock;
    std::function<net::SteadyTime()> now;
    kube::Random random;
    // The plan for the job was dropped, and nobody went.
    std::function<void(const std::string& job, const std::string& why)> on_dropped;
  };
  // All of it must outlive it; `mailbox` is where the answers come.
  Evictor(Tools tools, std::shared_ptr<kube::Mailbox> mailbox);

  // After a cycle. REQUIRES: `claims` has what the cycle made of it.
  void CarryOut(const CycleResult& result, const ClaimBook& claims);
  // This scheduler has begun to lead: claims that a former one left are added to `claims`, and what
  // it left half done is gone on with or taken back. To be called before the cycle.
  void Recover(ClaimBook& claims);

  // Sends again what has failed.
  void DoDue();
  [[nodiscard]] std::optional<net::SteadyTime> NextDue() const { return book_.NextDue(); }

 private:
  void Send(const EvictionBook::Steps& steps);
  void SendOne(const EvictionStep& step);
  void TakeAnswer(const EvictionStep& step, StepAnswer answer, const std::string& error);
  void FollowOutcomes();
  void EndClaim(const ClaimEnd& end);
  [[nodiscard]] kube::Call ToCall(const EvictionStep& step) const;
  [[nodiscard]] bool IsThere(const kube::PodName& pod) const;
  // True when the plan for the job can be cancelled, and that leaves no gang with a few of its
  // pods.
  [[nodiscard]] bool MaySpare(const GangClaim& claim) const;

  Tools tools_;
  std::shared_ptr<kube::Mailbox> mailbox_;
  EvictionBook book_;
};

}  // namespace strata::live
