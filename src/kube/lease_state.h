#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/transport.h"

namespace strata::kube {

struct LeaseSettings {
  std::string ns;
  std::string name;
  // REQUIRES: nobody else's: host name and something random, new for every process.
  std::string identity;
  Duration duration = std::chrono::seconds(15);  // how long others leave it alone
  Duration renew = std::chrono::seconds(10);     // how long we lead after asking for it
  Duration retry = std::chrono::seconds(2);
};

// The decisions of one candidate for a Lease (coordination.k8s.io/v1), without effects; the
// protocol is the one of client-go, so that both can share a lease.
//
// Never two leaders: others take a lease only when they have seen no change of it for `duration`.
// A write that they see was sent before they saw it. So a holder that leads for less than
// `duration` from the moment it *sent* its last successful write has stopped before anybody may
// take over, as long as its clock is not slower than theirs by a factor of duration / renew. Clocks
// need not agree on the time of day.
//
// A Lease may be deleted under its holder, who goes on until it notices or its time is up. Who
// finds none therefore makes one at once, so that others see it, but leads only when it has had it
// for `duration`, also when it has just started and never saw one: a Lease outlives its holders, so
// this pause is once in the life of a cluster. For the same reason an empty holder is a lease to
// take at once only with the duration of one second that a holder leaves behind as it goes; emptied
// by hand, it is left alone for `duration`.
//
// client-go does neither, and leads as soon as it has made a lease: nothing that we do can help
// when a Lease is deleted under us and one of its candidates makes the next.
class LeaseState {
 public:
  explicit LeaseState(LeaseSettings settings) : settings_(std::move(settings)) {}

  enum class Step : std::uint8_t { kRead, kCreate, kUpdate, kWait };
  // What to do now. kWait: somebody else has it, or may believe so.
  [[nodiscard]] Step Next(net::SteadyTime now) const;
  // The body for kCreate or kUpdate. `wall` is for people to read.
  [[nodiscard]] std::string Body(Time wall) const;
  // The body that gives the lease up, when we have it: to be taken at once if we might have led.
  [[nodiscard]] std::optional<std::string> ReleaseBody(Time wall, net::SteadyTime now) const;

  // What came back. A text that is not a Lease counts as a failure.
  [[nodiscard]] Status TakeRead(const std::string& text, net::SteadyTime now);
  void TakeMissing();  // the answer to a read: there is none
  [[nodiscard]] Status TakeWritten(const std::string& text,
                                   net::SteadyTime sent,
                                   net::SteadyTime now);
  void TakeFailure();  // of a write: what we know may be old

  // Until then we have the lease; none: we do not.
  [[nodiscard]] std::optional<net::SteadyTime> leads_until() const { return leads_until_; }
  [[nodiscard]] bool Leads(net::SteadyTime now) const {
    return leads_until_ && now < *leads_until_ && (!leads_from_ || now >= *leads_from_);
  }
  void Resign() { leads_until_.reset(); }
  [[nodiscard]] const std::string& holder() const { return holder_; }
  [[nodiscard]] const LeaseSettings& settings() const { return settings_; }

 private:
  enum class Known : std::uint8_t { kNothing, kMissing, kLease };

  [[nodiscard]] Status Observe(const std::string& text, net::SteadyTime now);
  // How long others may lead by what they wrote last.
  [[nodiscard]] Duration Patience() const;

  LeaseSettings settings_;
  Known known_ = Known::kNothing;
  std::string text_;  // the Lease as last seen
  std::string holder_;
  std::string version_;  // the newest we saw, also when text_ is no longer trusted
  Duration their_duration_{};
  net::SteadyTime observed_;  // when that version was first seen
  bool was_missing_ = false;  // when last looked at: if the next one is ours, we made it
  std::optional<net::SteadyTime> leads_from_;
  std::optional<net::SteadyTime> leads_until_;
};

}  // namespace strata::kube
