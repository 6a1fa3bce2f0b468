#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "net/http_message.h"
#include "tests/histories/random.h"

namespace strata::histories {

// What happens to one request on its way.
struct Fate {
  enum class Way : std::uint8_t {
    kArrives,     // it takes effect at the server, and the answer comes
    kNotSent,     // it did not leave the process
    kCut,         // the connection breaks; the server has seen nothing
    kLostAnswer,  // it takes effect, then the connection breaks
    kErrorAfter,  // it takes effect, and is answered `status`
    kRefused,     // the server answers `status` and does nothing
    kLateEffect,  // the connection breaks; it takes effect `request_delay` later
  };
  Way way = Way::kArrives;
  int status = 0;
  int retry_after = 0;  // seconds; 0: no header
  Duration request_delay{};
  Duration answer_delay{};
  Duration stream_life{};  // of a watch; 0: it does not end
  enum class Ending : std::uint8_t { kCut, kExpired, kSilence };
  Ending ending = Ending::kCut;  // by a broken connection, by 410, or it says nothing more
};

[[nodiscard]] std::string_view NameOf(Fate::Way way);

// The weather of one history: how often what goes wrong, drawn from its seed.
class Faults {
 public:
  explicit Faults(Random random);

  // The fate of a request that a process sends now.
  [[nodiscard]] Fate Decide(std::string_view process, const net::HttpRequest& request);
  // Instead of chance. What it does not say is that the request arrives after a moment.
  using Script = std::function<Fate(std::string_view process, const net::HttpRequest& request)>;
  void Follow(Script script) { script_ = std::move(script); }
  // From now on everything arrives.
  void Stop() { stopped_ = true; }

  [[nodiscard]] bool pauses() const { return pauses_; }
  // A process may be stopped between its decision to write and the write.
  [[nodiscard]] bool stops_before_send() const { return pauses_; }
  [[nodiscard]] std::int64_t kill_at_bind() const { return kill_at_bind_; }

 private:
  [[nodiscard]] Fate WriteFate(const net::HttpRequest& request);
  [[nodiscard]] Fate ReadFate(const net::HttpRequest& request);
  [[nodiscard]] Fate Refusal();

  Random random_;
  Script script_;
  bool stopped_ = false;
  bool pauses_;
  std::int64_t bind_fault_;  // one in so many; 0: none
  std::int64_t write_fault_;
  std::int64_t read_fault_;
  std::int64_t watch_end_;
  std::int64_t kill_at_bind_;
  Duration slowest_;
};

}  // namespace strata::histories
