#include "live/cycle_agenda.h"

#include <algorithm>

namespace strata::live {

void CycleAgenda::UseConfig(bool depends_on_time) {
  depends_on_time_ = depends_on_time;
  dirty_ = true;
}

void CycleAgenda::EndCycle(const CycleEnd& end, net::SteadyTime now) {
  decided_version_ = end.feed_version;
  some_wait_ = end.some_wait;
  again_at_ = end.again_at;
  dirty_ = end.changed_state || end.left != CycleResult::Left::kNone;
  next_cycle_ = end.left == CycleResult::Left::kForNow ? now : now + period_;
}

bool CycleAgenda::HasWork(const Moment& moment) const {
  return dirty_ || moment.feed_version != decided_version_ || (depends_on_time_ && some_wait_) ||
         (again_at_ && moment.now >= *again_at_);
}

bool CycleAgenda::IsCycleDue(const Moment& moment) const {
  return moment.synced && moment.leads && HasWork(moment) && moment.now >= next_cycle_;
}

Duration CycleAgenda::TimeToSleep(const Moment& moment,
                                  std::span<const std::optional<net::SteadyTime>> dues,
                                  Duration poll) const {
  Duration sleep = poll;
  if (moment.synced && moment.leads) {
    if (HasWork(moment)) sleep = std::min(sleep, next_cycle_ - moment.now);
    if (again_at_) sleep = std::min(sleep, std::max(*again_at_, next_cycle_) - moment.now);
    for (const std::optional<net::SteadyTime>& due : dues) {
      if (due) sleep = std::min(sleep, *due - moment.now);
    }
  }
  return std::max(sleep, Duration(0));
}

}  // namespace strata::live
