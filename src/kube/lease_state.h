#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/transport.h"

namespace strata::kube {

struct LeaseSettings {
  std::string space;
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
// A write that they see was sent before they saw it. So whoever leads for less than `duration` from
// the moment it *sent* its last successful write has stopped before anybody may take over, as long
// as its clock is not slower than theirs by a factor of duration / renew. Clocks need not agree on
// the time of day.
//
// A Lease that somebody deletes is made anew only by who has seen it missing for `duration`, since
// its holder may not know yet. Who has just started and never saw one makes it at once: a cluster
// without a Lease is a new cluster. So do not delete a Lease while candidates start, nor twice in a
// minute.
class LeaseState {
 public:
  explicit LeaseState(LeaseSettings settings) : settings_(std::move(settings)) {}

  enum class Step : std::uint8_t { kRead, kCreate, kUpdate, kWait };
  // What to do now. kWait: somebody else has it, or may believe so.
  [[nodiscard]] Step Next(net::SteadyTime now) const;
  // The body for kCreate or kUpdate. `wall` is for people to read.
  [[nodiscard]] std::string Body(Time wall) const;
  // The body that gives the lease up, when we have it.
  [[nodiscard]] std::optional<std::string> ReleaseBody(Time wall) const;

  // What came back. A text that is no Lease counts as a failure.
  [[nodiscard]] Status TakeRead(const std::string& text, net::SteadyTime now);
  void TakeMissing(net::SteadyTime now);  // the answer to a read: there is none
  [[nodiscard]] Status TakeWritten(const std::string& text,
                                   net::SteadyTime sent,
                                   net::SteadyTime now);
  void TakeFailure();  // of a write: what we know may be old

  // Until then we lead; none: we do not.
  [[nodiscard]] std::optional<net::SteadyTime> leads_until() const { return leads_until_; }
  [[nodiscard]] bool Leads(net::SteadyTime now) const {
    return leads_until_ && now < *leads_until_;
  }
  void Resign() { leads_until_.reset(); }
  [[nodiscard]] const std::string& holder() const { return holder_; }
  [[nodiscard]] const LeaseSettings& settings() const { return settings_; }

 private:
  enum class Known : std::uint8_t { kNothing, kMissing, kLease };

  [[nodiscard]] Status Observe(const std::string& text, net::SteadyTime now);

  LeaseSettings settings_;
  Known known_ = Known::kNothing;
  std::string text_;  // the Lease as last seen
  std::string holder_;
  std::string version_;  // the newest we saw, also when text_ is no longer trusted
  Duration their_duration_{};
  net::SteadyTime observed_;  // when that version was first seen
  bool ever_seen_ = false;
  std::optional<net::SteadyTime> missing_since_;
  net::SteadyTime last_missing_;
  std::optional<net::SteadyTime> leads_until_;
};

}  // namespace strata::kube
