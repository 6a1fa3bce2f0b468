#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "kube/call.h"
#include "kube/pacing.h"

namespace strata::kube {

struct ObjectReference {
  std::string kind;
  std::string api_version;
  std::string ns;  // "" for objects of the cluster: their events are in "default"
  std::string name;
  std::string uid;
  std::string version;

  friend auto operator<=>(const ObjectReference&, const ObjectReference&) = default;
};

// What `kubectl describe` shows of an object.
struct EventNote {
  enum class Type : std::uint8_t { kNormal, kWarning };
  ObjectReference about;
  Type type = Type::kNormal;
  std::string reason;   // "FailedScheduling"
  std::string message;  // cut off after 1,024 bytes
};

// Decides what becomes of a note, as client-go does: the same note again counts an Event up; many
// notes that differ in their message only become one; an object about which there is too much to
// say is left in peace for a while. Remembers the last 4,096 of each. A value; time is an argument.
class EventCorrelator {
 public:
  explicit EventCorrelator(std::string component) : component_(std::move(component)) {}

  struct Write {
    std::string ns;
    std::string name;  // of the Event: writes to one go one after the other
    Call call;
    // What to do instead when the Event that was to be counted up is gone (404).
    std::optional<Call> otherwise;
  };
  // Nothing: it is left out.
  [[nodiscard]] std::optional<Write> Decide(const EventNote& note, Time wall, net::SteadyTime now);

 private:
  // The newest `kMax` entries by use.
  template <typename T>
  class Recent {
   public:
    T& Get(const std::string& key);

   private:
    static constexpr std::size_t kMax = 4096;
    std::list<std::pair<std::string, T>> by_use_;
    std::map<std::string, typename std::list<std::pair<std::string, T>>::iterator> by_key_;
  };
  struct Kept {
    std::string name;  // "" never written
    Time first{};
    int count = 0;
  };
  struct Similar {
    std::set<std::string> messages;
    net::SteadyTime last{};
  };
  struct Pace {
    std::optional<TokenBucket> bucket;
  };

  [[nodiscard]] bool MaySpeakOf(const ObjectReference& about, net::SteadyTime now);
  [[nodiscard]] std::string MessageOf(const EventNote& note, net::SteadyTime now);
  [[nodiscard]] std::string Body(const EventNote& note, const Kept& kept, Time wall) const;

  std::string component_;
  std::uint64_t made_ = 0;
  Recent<Kept> kept_;
  Recent<Similar> similar_;
  Recent<Pace> pace_;
};

}  // namespace strata::kube
