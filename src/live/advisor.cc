#include "live/advisor.h"

#include <pthread.h>

#include <utility>

#include "explain/explain.h"
#include "whatif/cluster.h"

namespace strata::live {
namespace {

// A gang whose pods are still being made waits for nothing that somebody could change; one that no
// action looks at waits for another configuration, whatever is changed of it.
bool IsWorthALook(const Refusal& verdict) {
  return verdict.reason != "NotEnoughTasks" && verdict.reason != "NotEnoughPodsOfTask" &&
         verdict.reason != "NoAction";
}

struct Question {
  objects::ObjectSet objects;
  TakesPod takes;
  SchedulerConfig config;
  Time now{};
  std::string job;
};

// Nothing when it was stopped. A job that starts when it is solved again needs no change.
std::optional<RelaxationReport> Solve(Question question, const std::stop_token& stop) {
  const auto objects = CompleteObjects(std::move(question.objects), std::move(question.takes));
  if (!objects) return RelaxationReport{};
  RunOptions options;
  options.now = question.now;
  const auto story = ExplainJob({.objects = &*objects,
                                 .config = &question.config,
                                 .options = std::move(options),
                                 .job = std::move(question.job),
                                 .progress = {},
                                 .kept = nullptr,
                                 .stop = stop});
  if (stop.stop_requested()) return std::nullopt;
  if (!story || !story->relaxations) return RelaxationReport{};
  return *story->relaxations;
}

}  // namespace

Advisor::Advisor(std::shared_ptr<kube::Mailbox> mailbox, Now now, OnAdvice on_advice)
    : mailbox_(std::move(mailbox)), now_(std::move(now)), on_advice_(std::move(on_advice)) {}

Advisor::~Advisor() = default;

void Advisor::Follow(const ClusterState& state, const CycleResult& result) {
  KeptRelaxations::Verdicts verdicts;
  for (const auto& [id, verdict] : result.verdicts) {
    if (IsWorthALook(verdict)) verdicts.emplace(state.workload().job(id).spec.name, verdict);
  }
  if (agenda_.Follow(verdicts, now_())) search_.request_stop();
}

void Advisor::Look(const ClusterFeed& feed, const SchedulerConfig& config, Time now) {
  const auto item = agenda_.Begin(now_());
  if (!item) return;
  item_ = *item;
  Question question{feed.Objects(), feed.takes(), config, now, item->job};
  search_ =
      std::jthread([this, question = std::move(question)](const std::stop_token& stop) mutable {
        pthread_setname_np(pthread_self(), "advisor");
        auto report = Solve(std::move(question), stop);
        mailbox_->Post([this, report = std::move(report)] { Answer(report); });
      });
}

void Advisor::Answer(std::optional<RelaxationReport> report) {
  const std::string text =
      report && !report->found.empty() ? WithCommand(report->found.front()) : "";
  if (agenda_.Finish(std::move(report), now_())) on_advice_({item_.job, item_.verdict, text});
}

}  // namespace strata::live
