#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "kube/client.h"
#include "kube/event_correlator.h"

namespace strata::kube {

// Writes Events, as well as it can: what does not fit into its queue and what the server refuses is
// left out. From any thread; never waits.
class EventRecorder {
 public:
  struct Options {
    std::string component = "volcano";
    std::size_t max_waiting = 1000;
    int max_in_flight = 8;
  };

  // `client` and `clock` must outlive it.
  EventRecorder(Client& client, Options options, const Clock& clock);
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;
  // What waits is left out.
  ~EventRecorder();

  void Record(EventNote note);

  // How many were left out because too many waited.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace strata::kube
