#include "tests/histories/faults.h"

#include <array>

namespace strata::histories {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Way = Fate::Way;

constexpr std::int64_t kRates[] = {0, 60, 20, 6};
constexpr std::int64_t kBindRates[] = {0, 8, 4, 2};

bool IsWatch(const net::HttpRequest& request) {
  return request.query.find("watch=") != std::string::npos;
}

}  // namespace

std::string_view NameOf(Way way) {
  constexpr std::array<std::string_view, 7> kNames = {
      "arrives", "not sent", "cut", "lost answer", "error after effect", "refused", "late effect"};
  return kNames[static_cast<std::size_t>(way)];
}

Faults::Faults(Random random)
    : random_(random),
      pauses_(random_.OneIn(2)),
      bind_fault_(kBindRates[random_.Below(4)]),
      write_fault_(kRates[random_.Below(4)]),
      read_fault_(kRates[random_.Below(4)]),
      watch_end_(random_.OneIn(2) ? 3 : 0),
      kill_at_bind_(random_.OneIn(2) ? random_.From(2, 12) : 0),
      slowest_(milliseconds(random_.OneIn(3) ? 1500 : 20)) {}

Fate Faults::Decide(std::string_view process, const net::HttpRequest& request) {
  Fate fate;
  if (script_) {
    fate = script_(process, request);
  } else if (!stopped_) {
    fate = request.method == "GET" ? ReadFate(request) : WriteFate(request);
  }
  const Duration slowest = stopped_ || script_ ? milliseconds(5) : slowest_;
  for (Duration* delay : {&fate.request_delay, &fate.answer_delay}) {
    if (*delay == Duration(0)) *delay = random_.Between(milliseconds(0), slowest);
  }
  return fate;
}

// A refusal that the server decides on before it does anything.
Fate Faults::Refusal() {
  constexpr std::array<int, 6> kStatuses = {409, 429, 429, 500, 503, 504};
  Fate fate{.way = Way::kRefused};
  fate.status = kStatuses[static_cast<std::size_t>(random_.Below(kStatuses.size()))];
  const bool may_ask = fate.status == 429 || fate.status == 503;
  if (may_ask && !random_.OneIn(4)) {
    fate.retry_after = static_cast<int>(random_.From(1, 12));
  }
  return fate;
}

Fate Faults::WriteFate(const net::HttpRequest& request) {
  const bool is_bind = request.path.ends_with("/binding");
  if (!random_.OneIn(is_bind ? bind_fault_ : write_fault_)) return {};
  switch (random_.Below(8)) {
    case 0:
      return {.way = Way::kNotSent};
    case 1:
      return {.way = Way::kCut};
    case 2:
      return {.way = Way::kLostAnswer};
    case 3:
      return {.way = Way::kErrorAfter, .status = random_.OneIn(2) ? 500 : 504};
    case 4:  // beyond every timeout of a client
      return {.way = Way::kArrives, .answer_delay = random_.Between(seconds(2), seconds(45))};
    case 5:
      return {.way = Way::kLateEffect, .request_delay = random_.Between(seconds(1), seconds(60))};
    default:
      return Refusal();
  }
}

Fate Faults::ReadFate(const net::HttpRequest& request) {
  const bool is_watch = IsWatch(request);
  const bool is_object = !is_watch && request.query.empty();
  if (is_watch && random_.OneIn(watch_end_)) {
    using Ending = Fate::Ending;
    const bool silent = random_.OneIn(2);
    const Ending loud = random_.OneIn(3) ? Ending::kExpired : Ending::kCut;
    return {.stream_life = random_.Between(milliseconds(1), seconds(40)),
            .ending = silent ? Ending::kSilence : loud};
  }
  if (!random_.OneIn(read_fault_)) return {};
  switch (random_.Below(5)) {
    case 0:
      return {.way = random_.OneIn(2) ? Way::kNotSent : Way::kCut};
    case 1:
      return {.way = Way::kLostAnswer};
    case 2:
      if (!is_object) return {.way = Way::kRefused, .status = 410};
      return {.way = Way::kArrives, .answer_delay = random_.Between(seconds(2), seconds(45))};
    default:
      return Refusal();
  }
}

}  // namespace strata::histories
