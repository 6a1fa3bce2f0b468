#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "apiserver/resources/resource.h"
#include "apiserver/state/server_state.h"
#include "apiserver/store/object_store.h"
#include "base/clock.h"

namespace strata::apiserver {

// Deletes Events that nobody has written for ApiServerOptions::event_ttl: not before, and a
// sixtieth of it later at most. Time is what the timers say, so a clock that is set changes
// nothing; only for Events of a previous process is it read from their timestamps.
class EventExpiry {
 public:
  // `state` must outlive it.
  explicit EventExpiry(ServerState& state);
  EventExpiry(const EventExpiry&) = delete;
  EventExpiry& operator=(const EventExpiry&) = delete;

  // Follows the Events of the store from now on. Call once, after the store was filled.
  void Start();

 private:
  struct Written {
    ObjectKey key;
    std::int64_t version = 0;  // a later write has an entry of its own
  };
  using Bucket = std::vector<Written>;

  void AddStored();
  void TakeChanges();
  void ScheduleTick();
  void Tick();
  void DeleteExpired();

  ServerState& state_;
  ResourceRef resource_;
  WatchPosition position_;
  ObjectStore::Token token_;
  std::deque<Bucket> buckets_;  // what was written in one period, the present one last
  Bucket expired_;
  bool ticking_ = false;
  bool deleting_ = false;
};

}  // namespace strata::apiserver
