#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "objects/readers.h"

namespace strata::objects {
namespace {

constexpr std::string_view kAnyEvent = "*";

// What users may write; OutOfSync and CommandIssued are the controller's own.
constexpr std::array<std::string_view, 9> kEvents = {"*",
                                                     "PodFailed",
                                                     "PodEvicted",
                                                     "PodPending",
                                                     "PodRunning",
                                                     "Unknown",
                                                     "TaskCompleted",
                                                     "TaskFailed",
                                                     "JobUpdated"};
constexpr std::array<std::string_view, 8> kActions = {"AbortJob",
                                                      "RestartJob",
                                                      "RestartTask",
                                                      "RestartPod",
                                                      "RestartPartition",
                                                      "TerminateJob",
                                                      "CompleteJob",
                                                      "ResumeJob"};

// `what` is wrong with a word that is not among the known ones.
template <std::size_t kSize>
void ReadWord(const Cursor& at,
              const std::array<std::string_view, kSize>& known,
              std::string_view what,
              std::string& out) {
  at.Read(out);
  if (!at.present() || !at.ok()) return;
  if (std::find(known.begin(), known.end(), out) != known.end()) return;
  at.UnknownWord(out, {known.begin(), known.end()}, what);
}

constexpr std::string_view kBadAction = "invalid policy action: ";
constexpr std::string_view kBadEvent = "invalid policy event: ";

void ReadPolicy(const Cursor& at, LifecyclePolicy& out) {
  ReadWord(at.At("action").Required(), kActions, kBadAction, out.action);
  at.At("events").ForEach(
      [&](const Cursor& item) { ReadWord(item, kEvents, kBadEvent, out.events.emplace_back()); });
  const Cursor event = at.At("event");
  const bool unset = event.present() && event.value().type() == Value::Type::kString &&
                     event.value().AsString().empty();
  if (event.present() && !unset) ReadWord(event, kEvents, kBadEvent, out.events.emplace_back());
  std::sort(out.events.begin(), out.events.end());
  out.events.erase(std::unique(out.events.begin(), out.events.end()), out.events.end());
  at.At("exitCode").Read(out.exit_code);
  at.At("timeout").Read(out.timeout);
  if (out.exit_code && !out.events.empty()) {
    at.Fail("must not specify event and exitCode simultaneously (want one of them)");
  }
  if (!out.exit_code && out.events.empty()) {
    at.Fail("either event and exitCode should be specified (want one of them)");
  }
  if (out.exit_code == 0) {
    at.At("exitCode").Fail("0 is not a valid error code (want that of a failure)");
  }
  const bool waits =
      std::find(out.events.begin(), out.events.end(), "PodPending") != out.events.end();
  if (waits && !out.timeout) at.At("timeout").Fail("is required by event PodPending");
}

}  // namespace

void ReadLifecyclePolicies(const Cursor& at, std::vector<LifecyclePolicy>& out) {
  std::set<std::string> events;
  std::set<std::int32_t> exit_codes;
  at.ForEach([&](const Cursor& item) {
    LifecyclePolicy& policy = out.emplace_back();
    ReadPolicy(item, policy);
    for (const std::string& event : policy.events) {
      if (!events.insert(event).second) {
        item.Fail(fmt::format("duplicate event {}: it has a policy already", event));
      }
    }
    if (policy.exit_code && !exit_codes.insert(*policy.exit_code).second) {
      item.Fail(fmt::format("duplicate exitCode {}: it has a policy already", *policy.exit_code));
    }
  });
  if (events.size() > 1 && events.contains(std::string(kAnyEvent))) {
    at.Fail("if there's * here, no other policy should be here: event * includes all events");
  }
}

}  // namespace strata::objects
