#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "kube/client.h"

namespace strata::live {

// Writes with bounded concurrency. Writes to one object, named by a key, go one after the other,
// and one that waits gives way to a newer one: what was to be written is out of date then.
class CallQueue {
 public:
  using Done = std::function<void(const kube::Reply&)>;
  enum class Urgency : std::uint8_t { kUrgent, kUsual };  // urgent ones overtake the others

  struct Options {
    int max_in_flight = 32;
    // What every call of this queue needs (kube::Call::leadership); null: nothing.
    std::shared_ptr<const kube::Leadership> leadership;
  };

  // `client` must outlive it.
  CallQueue(kube::Client& client, Options options);
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  // Drops what waits. No `done` is called afterwards.
  ~CallQueue();

  // From any thread. `done` is called at most once, on the thread of the answer; it must not block.
  void Submit(const std::string& key, kube::Call call, Urgency urgency, Done done);

  // Drops what waits and whatever is submitted from now on, and waits for the answers to what is
  // under way, which may be that there was none. False when some took too long: those may still
  // reach the server. Not from a thread of the client.
  [[nodiscard]] bool Drain(Duration limit);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace strata::live
