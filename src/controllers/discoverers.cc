#include "controllers/discoverers.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "controllers/cluster_objects.h"
#include "controllers/object_meta.h"
#include "json/parse.h"
#include "kube/call.h"

namespace strata::controllers {
namespace {

using std::chrono::seconds;

constexpr Duration kFirstRetry = seconds(1);
constexpr Duration kLastRetry = std::chrono::minutes(5);
constexpr int kMaxDoublings = 10;
constexpr int kConfirmations = 3;
// Labels are changed node by node: one look for many of them.
constexpr Duration kGatherNodes = std::chrono::milliseconds(500);

// Whether what the source says is a function of the nodes alone.
bool ReadsNodes(const discovery::SourceConfig& source) {
  return std::holds_alternative<discovery::LabelConfig>(source.config) ||
         std::holds_alternative<discovery::NvlinkConfig>(source.config);
}

Duration RetryAfter(int failures, Duration interval) {
  const int doublings = std::clamp(failures - 1, 0, kMaxDoublings);
  return std::min({kFirstRetry * (1 << doublings), kLastRetry, interval});
}

}  // namespace

Discoverers::Discoverers(Outside outside)
    : outside_(std::move(outside)), inbox_(std::make_shared<Inbox>()) {
  inbox_->wake = outside_.wake;
}

Discoverers::~Discoverers() {
  const MutexLock lock(inbox_->mutex);
  inbox_->wake = nullptr;
}

Status Discoverers::Configure(const std::string& text,
                              const std::string& name,
                              std::optional<kube::ObjectReference> about) {
  TRY_ASSIGN(discovery::DiscoveryConf conf,
             discovery::ParseDiscoveryConf({.name = name, .text = text}));
  const MutexLock lock(mutex_);
  about_ = std::move(about);
  if (text_ == text) return {};
  text_ = text;
  ++generation_;
  all_ = std::move(conf.sources);
  sources_.clear();
  for (const std::string& warning : conf.warnings) {
    outside_.log.Warning("discovery configuration", {{"warning", warning}});
  }
  bool all_good = true;
  unable_.clear();
  for (discovery::SourceConfig& entry : all_) {
    if (!entry.enabled) continue;
    if (entry.error.empty()) entry.error = RefusalOf(entry, name);
    if (!entry.error.empty()) {
      all_good = false;
      outside_.log.Error("discovery source cannot start",
                         {{"source", entry.Title()}, {"err", entry.error}});
      unable_.push_back(entry.error);
      continue;
    }
    sources_[entry.Title()].config = entry;
  }
  if (all_good) {
    outside_.log.Info("Successfully started all network topology discoverers",
                      {{"discoverers", sources_.size()}});
  }
  outside_.wake();
  return {};
}

// Why an entry may not be asked; "" when it may.
std::string Discoverers::RefusalOf(const discovery::SourceConfig& entry,
                                   const std::string& name) const {
  const Status allowed = outside_.permissions.CheckEntry(entry);
  return allowed ? "" : name + ": " + allowed.error().message;
}

net::SteadyTime Discoverers::SteadyNow() const {
  return outside_.client.writes().Now();
}

void Discoverers::NoteNodesChanged() {
  const MutexLock lock(mutex_);
  const net::SteadyTime soon = SteadyNow() + kGatherNodes;
  bool any = false;
  for (auto& [title, source] : sources_) {
    if (!ReadsNodes(source.config)) continue;
    source.stale = true;
    if (source.asked || source.due <= soon) continue;
    source.due = soon;
    any = true;
  }
  if (any) outside_.wake();
}

Controller::Work Discoverers::Work() {
  Controller::Work work;
  TellUnable(work.plan.events);
  if (!work.plan.events.empty()) {
    work.plan.again = Duration(0);
    return work;  // alone, so that a failed write does not drop them
  }
  while (const std::optional<Step> step = NextStep(work.plan.again)) {
    if (!step->answers) {
      Ask(*step);
      continue;
    }
    DiscoveryOutcome outcome =
        PlanDiscovery(ViewFor(*step), step->source, *step->answers, step->shrink);
    if (!TakeOutcome(*step, outcome)) continue;
    if (outcome.error.empty()) {
      work.done = [this, title = step->source.Title(), generation = step->generation] {
        NoteWritten(title, generation);
      };
    }
    work.plan = std::move(outcome.plan);
    work.plan.again = Duration(0);  // there may be more
    return work;
  }
  return work;
}

Discoverers::Step Discoverers::StepFor(const Source& source) const {
  Step step;
  step.source = source.config;
  step.all = all_;
  step.generation = generation_;
  return step;
}

// What is to be done now; else `wait` says for how long nothing is.
std::optional<Discoverers::Step> Discoverers::NextStep(std::optional<Duration>& wait) {
  const MutexLock lock(mutex_);
  if (std::optional<Arrived> answer = NextAnswer()) {
    Source& source = sources_[answer->title];
    source.asked = false;
    Step step = StepFor(source);
    step.answers = std::move(answer->answers);
    if (ReadsNodes(source.config)) {
      step.shrink = discovery::Shrink::kAccept;
    } else if (source.shrunken + 1 >= kConfirmations) {
      step.shrink = discovery::Shrink::kAcceptFewer;
    }
    return step;
  }
  const net::SteadyTime now = SteadyNow();
  wait.reset();
  for (auto& [title, source] : sources_) {
    if (source.asked) continue;
    if (source.due <= now) {
      source.asked = true;
      source.stale = false;
      return StepFor(source);
    }
    const Duration left = source.due - now;
    wait = std::min(wait.value_or(left), left);
  }
  return std::nullopt;
}

std::optional<Discoverers::Arrived> Discoverers::NextAnswer() {
  const MutexLock lock(inbox_->mutex);
  while (!inbox_->arrived.empty()) {
    Arrived answer = std::move(inbox_->arrived.front());
    inbox_->arrived.erase(inbox_->arrived.begin());
    if (answer.generation == generation_) return answer;  // else its configuration is gone
  }
  return std::nullopt;
}

// The Secret is read from the cluster for each pass: it may have been changed, or come late.
DiscoveryView Discoverers::ViewFor(const Step& step) const {
  DiscoveryView view{.sources = step.all,
                     .nodes = outside_.cache.All(kube::kNodes),
                     .hypernodes = outside_.cache.All(kube::kHyperNodes),
                     .secrets = {}};
  const std::optional<discovery::SecretRef>& wanted = step.source.secret;
  if (!wanted) return view;
  const kube::Reply found =
      outside_.client.Do(kube::GetCall({kube::kSecrets, wanted->ns, wanted->name, ""}));
  if (!found) return view;
  if (std::optional<objects::Secret> secret = SecretFrom(ParseJsonOrNull(*found))) {
    view.secrets.push_back(std::move(*secret));
  }
  return view;
}

void Discoverers::Ask(const Step& step) {
  std::thread([inbox = inbox_,
               title = step.source.Title(),
               generation = step.generation,
               make_reader = outside_.make_reader,
               input = InputFor(ViewFor(step), step.source)] {
    Arrived arrived{.title = title, .generation = generation, .answers = {}};
    const auto recording = [&](Duration time) {
      return Recording(make_reader(time), arrived.answers);
    };
    // Only the answers count: what follows from them is worked out when they are taken.
    static_cast<void>(discovery::Discover(input, recording));
    const MutexLock lock(inbox->mutex);
    inbox->arrived.push_back(std::move(arrived));
    if (inbox->wake) inbox->wake();
  }).detach();
}

bool Discoverers::TakeOutcome(const Step& step, DiscoveryOutcome& outcome) {
  const std::string title = step.source.Title();
  const net::SteadyTime now = SteadyNow();
  const MutexLock lock(mutex_);
  if (step.generation != generation_) return false;
  Source& source = sources_[title];
  if (outside_.log.On(2)) {
    for (const std::string& warning : outcome.warnings) {
      outside_.log.Warning("discovery", {{"warning", warning}});
    }
  }
  // What was said before it could not be used, or not be written.
  if (source.failures > 0 || !outcome.error.empty()) source.good = false;
  ++source.failures;  // until what it said is written
  if (outcome.error.empty()) {
    source.shrunken = 0;
    source.due = now + RetryAfter(source.failures, source.config.interval);
    if (outside_.log.On(2)) {
      outside_.log.Info("discovery source answered",
                        {{"source", title}, {"steps", outcome.plan.steps.size()}});
    }
    return true;
  }
  outside_.log.Error("discovery failed", {{"source", title}, {"err", outcome.error}});
  TellFailure(outcome.event, outcome.plan.events);
  source.shrunken = outcome.shrunken ? source.shrunken + 1 : 0;
  source.due = now + (outcome.shrunken ? source.config.interval
                                       : RetryAfter(source.failures, source.config.interval));
  return true;
}

void Discoverers::TellFailure(const std::string& error, std::vector<kube::EventNote>& events) {
  if (!about_) return;
  events.push_back({.about = *about_,
                    .type = kube::EventNote::Type::kWarning,
                    .reason = "DiscoveryFailed",
                    .message = error});
}

void Discoverers::TellUnable(std::vector<kube::EventNote>& events) {
  const MutexLock lock(mutex_);
  for (const std::string& error : std::exchange(unable_, {})) TellFailure(error, events);
}

void Discoverers::NoteWritten(const std::string& title, int generation) {
  const net::SteadyTime now = SteadyNow();
  const MutexLock lock(mutex_);
  if (generation != generation_) return;
  Source& source = sources_[title];
  source.failures = 0;
  source.good = true;
  source.last_good = outside_.clock.Now();
  source.due = now + (source.stale ? kGatherNodes : source.config.interval);
}

obs::Families Discoverers::Metrics() const {
  auto up = obs::GaugeFamily("strata_discovery_source_up",
                             "Whether the last answer of the source was accepted.");
  auto last = obs::GaugeFamily("strata_discovery_last_success_seconds",
                               "When an answer of the source was last accepted.");
  const MutexLock lock(mutex_);
  for (const auto& [title, source] : sources_) {
    const auto since_epoch =
        std::chrono::duration_cast<seconds>(source.last_good.time_since_epoch());
    obs::AddSample(up, {{"source", title}}, source.good ? 1 : 0);
    obs::AddSample(last, {{"source", title}}, static_cast<double>(since_epoch.count()));
  }
  return {std::move(up), std::move(last)};
}

}  // namespace strata::controllers
