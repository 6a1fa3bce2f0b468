#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "convert/cluster_feed.h"
#include "kube/mailbox.h"
#include "live/advice_agenda.h"
#include "sched/config.h"
#include "sched/cycle_result.h"

namespace strata::live {

// Finds out beside the cycles what would let waiting jobs start, as AdviceAgenda says, and tells
// it.
//
// A search runs on a thread of its own, on a copy of the objects.
// Everything else is for the thread that schedules.
class Advisor {
 public:
  struct Advice {
    std::string job;   // "namespace/podgroup"
    Refusal verdict;   // what it is about
    std::string text;  // the smallest change that would let the job start; "": there is none
  };
  using OnAdvice = std::function<void(const Advice&)>;
  using Now = std::function<net::SteadyTime()>;

  // `mailbox` is where answers come, so that `on_advice` runs on the thread that schedules.
  Advisor(std::shared_ptr<kube::Mailbox> mailbox, Now now, OnAdvice on_advice);
  Advisor(const Advisor&) = delete;
  Advisor& operator=(const Advisor&) = delete;
  // Gives a search up. COST: as long as it takes to solve the cluster once.
  ~Advisor();

  // After a cycle.
  void Follow(const ClusterState& state, const CycleResult& result);
  // When Look may have something to do.
  [[nodiscard]] std::optional<net::SteadyTime> NextLook() const { return agenda_.NextLook(); }
  // Begins a search if one is due. COST: a copy of all objects then.
  void Look(const ClusterFeed& feed, const SchedulerConfig& config, Time now);

 private:
  void Answer(std::optional<RelaxationReport> report);

  std::shared_ptr<kube::Mailbox> mailbox_;
  Now now_;
  OnAdvice on_advice_;
  AdviceAgenda agenda_;
  AdviceAgenda::Item item_;  // that the search is about
  std::jthread search_;      // last: it is over before the rest goes
};

}  // namespace strata::live
