#include "controllers/controller.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace strata::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr kube::WorkQueueState::Limits kRetries{.first = milliseconds(20), .most = seconds(30)};
// A write that is not seen for so long was undone, or the server started over.
constexpr Duration kMostWait = seconds(5);
constexpr Duration kLookForWrites = milliseconds(50);
constexpr Duration kLeadAgain = milliseconds(1000);

}  // namespace

Controller::Controller(std::string name, const Tools& tools, Decide decide)
    : name_(std::move(name)),
      tools_(tools),
      decide_(std::move(decide)),
      queue_(kRetries, [&tools] { return tools.client.writes().Now(); }) {}

Controller::~Controller() {
  Stop();
}

void Controller::Start(int workers) {
  for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { Run(); });
}

void Controller::Stop() {
  stopping_ = true;
  queue_.Close();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

Controller::Counters Controller::counters() const {
  return {.plans = plans_, .writes = writes_, .failures = failures_};
}

void Controller::Run() {
  while (std::optional<std::string> key = queue_.Get()) {
    if (stopping_) {
      queue_.Done(*key);
      continue;
    }
    if (SeesOwnWrites(*key)) {
      LookAt(*key);
    } else {
      queue_.AddAfter(*key, kLookForWrites);
    }
    queue_.Done(*key);
  }
}

void Controller::LookAt(const std::string& key) {
  if (!tools_.may_write()) {  // a new leader starts from everything there is; we may lead again
    queue_.AddAfter(key, kLeadAgain);
    return;
  }
  const Work work = decide_(key);
  ++plans_;
  Applied applied = Apply(tools_.client, work.plan, tools_.may_write);
  writes_ += applied.writes;
  Await(key, std::move(applied.left));
  if (!applied.outcome) {
    ++failures_;
    tools_.log.Warning(
        "a plan failed and is made again",
        {{"controller", name_}, {"key", key}, {"err", applied.outcome.error().message}});
    queue_.AddRateLimited(key);
    return;
  }
  queue_.Forget(key);
  if (work.done) work.done();
  for (const kube::EventNote& note : work.plan.events) tools_.events.Record(note);
  if (work.plan.again) queue_.AddAfter(key, *work.plan.again);
}

bool Controller::SeesOwnWrites(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = awaited_.find(key);
  if (found == awaited_.end()) return true;
  std::erase_if(found->second.left,
                [&](const auto& expectation) { return tools_.cache.HasSeen(expectation); });
  const bool seen =
      found->second.left.empty() || tools_.client.writes().Now() >= found->second.give_up;
  if (seen) awaited_.erase(found);
  return seen;
}

void Controller::Await(const std::string& key, std::vector<Cache::Expectation> left) {
  std::erase_if(left, [&](const auto& expectation) { return tools_.cache.HasSeen(expectation); });
  if (left.empty()) return;
  const std::lock_guard lock(mutex_);
  awaited_[key] = {std::move(left), tools_.client.writes().Now() + kMostWait};
}

std::string CounterMetrics(const std::vector<const Controller*>& controllers) {
  std::string text;
  const auto add = [&](const char* name, const char* help, auto value) {
    text += fmt::format(
        "# HELP strata_controllers_{0} {1}\n# TYPE strata_controllers_{0} counter\n", name, help);
    for (const Controller* controller : controllers) {
      text += fmt::format("strata_controllers_{}{{controller=\"{}\"}} {}\n",
                          name,
                          controller->name(),
                          value(controller->counters()));
    }
  };
  add("plans_total", "Looks at one object.", [](const auto& c) { return c.plans; });
  add("writes_total", "Calls that changed something.", [](const auto& c) { return c.writes; });
  add("failures_total", "Plans that failed.", [](const auto& c) { return c.failures; });
  return text;
}

}  // namespace strata::controllers
