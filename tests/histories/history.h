#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/histories/judge.h"

// Whole clusters in one thread and in a time of their own: two schedulers that elect a leader, in
// half of the histories two processes of controllers that do the same, the real API server over a
// store in memory, users and kubelets. Everything that happens comes from a
// seed, so that a history that breaks a promise (judge.h) happens again.
//
// The fault model, within which no promise may be broken:
//
// * A request is delayed by up to 1.5 s, does not leave the process, is cut before or after it took
//   effect, is answered 409, 410, 429, 500, 503 or 504, with or without Retry-After, also after
//   it took effect, or is answered up to 45 s late. It takes effect at one moment, once; also up to
//   a minute after it was sent, when its client has given it up.
// * A watch is cut, ends by 410 or falls silent at any moment; the server keeps the last 5, 50 or
//   all changes for those that come back. Also just before the other process binds, which then ends
//   and releases its lease.
// * A process is killed (also right after any of its binds, or creates of pods, took effect), is
//   asked to stop, or loses its lease and ends, is started again up to 25 s later, and is paused
//   for up to 45 s, during which nothing of it runs; also between its decision to bind and the
//   bind.
// * The clock of a process is set, by up to an hour. The time that passes is the same for all.
// * The server itself does not fail: nothing that it has stored is lost.
//
// Faults are over after 60 s; the end is judged when everything has come to rest, a minute later at
// the earliest.
namespace strata::histories {

struct Report {
  std::uint64_t seed = 0;
  Broken broken;
  std::vector<std::string> problems;
  int binds = 0;
  int evictions = 0;  // of pods
  std::string trace;
};

// kEvictions: gangs of low priority fill the nodes at the beginning, gangpreempt is configured, and
// users create pods again that were evicted.
enum class Plot : std::uint8_t { kUsual, kEvictions };

[[nodiscard]] Report RunHistory(std::uint64_t seed, Plot plot = Plot::kUsual);

}  // namespace strata::histories
