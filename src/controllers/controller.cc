#include "controllers/controller.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace strata::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr kube::WorkQueueState::Limits kRetries{.first = milliseconds(20), .max = seconds(30)};
constexpr Duration kLookForWrites = milliseconds(50);
// A decision may ask the server, which may be away for a while.
constexpr Duration kDecisionLimit = std::chrono::minutes(10);
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
  const std::shared_ptr<kube::Heartbeat> heartbeat =
      tools_.liveness.Add(name_ + " worker", kDecisionLimit);
  while (std::optional<std::string> key = queue_.Get()) {
    if (stopping_) {
      queue_.Done(*key);
      continue;
    }
    heartbeat->Begin(tools_.client.writes().Now());
    const std::optional<Work> work = Look(*key);
    heartbeat->End();
    if (work) End(*key, *work, Apply(tools_.client, work->plan, tools_.leadership));
    queue_.Done(*key);
  }
}

bool Controller::Leads() const {
  return tools_.leadership->Holds(tools_.client.writes().Now());
}

std::optional<Controller::Work> Controller::Look(const std::string& key) {
  if (!SeesOwnWrites(key)) {
    queue_.AddAfter(key, kLookForWrites);
    return std::nullopt;
  }
  // A new leader starts from everything there is; we may lead again.
  if (!Leads()) {
    queue_.AddAfter(key, kLeadAgain);
    return std::nullopt;
  }
  Work work = decide_(key);
  ++plans_;
  return work;
}

void Controller::End(const std::string& key, const Work& work, Applied applied) {
  writes_ += applied.writes;
  Await(key, std::move(applied.left));
  if (!applied.outcome) {
    ++failures_;
    tools_.log.Warning(
        "plan failed, retrying",
        {{"controller", name_}, {"key", key}, {"err", applied.outcome.error().message}});
    TellRefusal(work, applied.refusal);
    queue_.AddRateLimited(key);
    return;
  }
  queue_.Forget(key);
  if (work.done) work.done();
  for (const kube::EventNote& note : work.plan.events) tools_.events.Record(note);
  if (work.plan.again) queue_.AddAfter(key, *work.plan.again);
}

// People look at the object, not at the log. The same again counts its Event up.
void Controller::TellRefusal(const Work& work, const std::string& refusal) {
  if (refusal.empty()) return;
  for (const kube::ObjectReference& about : work.plan.concerned) {
    tools_.events.Record({.about = about,
                          .type = kube::EventNote::Type::kWarning,
                          .reason = "FailedCreate",
                          .message = refusal});
  }
  if (work.refused) work.refused(refusal);
}

void Controller::Step(int plans, const std::shared_ptr<kube::Mailbox>& mailbox) {
  most_under_way_ = plans;
  while (under_way_ < plans) {
    const std::optional<std::string> key = queue_.TryGet();
    if (!key) return;
    const auto work = std::make_shared<std::optional<Work>>(Look(*key));
    if (!*work) {
      queue_.Done(*key);
      continue;
    }
    ++under_way_;
    StartPlan(tools_.client,
              (*work)->plan,
              tools_.leadership,
              [this, mailbox, key = *key, work](const Applied& applied) {
                mailbox->Post([this, key, work, applied] {
                  --under_way_;
                  End(key, **work, applied);
                  queue_.Done(key);
                });
              });
  }
}

std::optional<net::SteadyTime> Controller::NextStep() {
  return under_way_ < most_under_way_ ? queue_.NextDue() : std::nullopt;
}

bool Controller::SeesOwnWrites(const std::string& key) {
  const MutexLock lock(mutex_);
  return awaited_.AllSeen(
      key, tools_.client.writes().Now(), [this](const Cache::Expectation& expectation) {
        return tools_.cache.HasSeen(expectation);
      });
}

void Controller::Await(const std::string& key, std::vector<Cache::Expectation> left) {
  std::erase_if(left, [&](const auto& expectation) { return tools_.cache.HasSeen(expectation); });
  if (left.empty()) return;
  const MutexLock lock(mutex_);
  awaited_.Add(key, std::move(left), tools_.client.writes().Now());
}

obs::Families CounterMetrics(const std::vector<const Controller*>& controllers) {
  obs::Families families;
  const auto add = [&](const std::string& name, const char* help, auto value) {
    auto& family = families.emplace_back(obs::CounterFamily("strata_controllers_" + name, help));
    for (const Controller* controller : controllers) {
      obs::AddSample(family,
                     {{"controller", controller->name()}},
                     static_cast<double>(value(controller->counters())));
    }
  };
  add("plans_total", "Plans made, one per reconciled object.", [](const auto& c) {
    return c.plans;
  });
  add("writes_total", "Writes sent to the API server.", [](const auto& c) { return c.writes; });
  add("failures_total", "Plans that failed.", [](const auto& c) { return c.failures; });
  return families;
}

}  // namespace strata::controllers
