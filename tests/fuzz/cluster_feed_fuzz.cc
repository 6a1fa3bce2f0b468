// Any objects, one after the other as watches of a server that rejects nothing would show them,
// with cycles in between: every object is used or refused with one line, every sum is what a
// recount finds, decisions name what is there, and what is left when the objects are gone is
// nothing.
//
// A line that begins with '%' is an event; what follows it up to the next such line is its text:
//   %put        objects, YAML or JSON
//   %remove KIND NAMESPACE NAME       NAMESPACE may be -
//   %conf       a volcano-scheduler.conf
//   %cycle      a cycle; its binds and evictions are on their way afterwards
//   %fail       these binds and evictions come to nothing
//   %after N    time passes, in seconds
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "convert/cluster_feed.h"
#include "convert/scheduler_conf.h"
#include "objects/load.h"
#include "sched/config.h"
#include "sched/scheduler.h"
#include "tests/support/recount.h"

namespace strata {
namespace {

constexpr std::uint64_t kBudget = 20'000;  // of a cycle, as the live scheduler has one
constexpr std::size_t kMaxCycles = 20;

bool TakesVolcano(const objects::Pod& pod) {
  return pod.spec.scheduler_name == "volcano";
}

bool IsOneLine(const std::string& text) {
  return !text.empty() && text.find('\n') == std::string::npos;
}

// A scheduler and what it knows.
class World {
 public:
  World() : feed_(state_, TakesVolcano) { CHECK(Use(DefaultSchedulerConfig())); }

  void Put(const std::string& text) {
    const objects::Source source{"cluster", text};
    auto read = objects::ParseObjects({&source, 1});
    if (!read) {
      CHECK(IsOneLine(read.error().message));
      return;
    }
    const Status applied = feed_.Apply(*std::move(read));
    if (!applied) CHECK(IsOneLine(applied.error().message));
  }

  void Remove(const std::string& words) {
    std::istringstream in(words);
    std::string kind;
    std::string ns;
    std::string name;
    in >> kind >> ns >> name;
    feed_.Remove(kind, ns == "-" ? "" : ns, name);
  }

  void Configure(const std::string& text) {
    auto conf = ParseSchedulerConf({"fuzz.conf", text});
    if (!conf) {
      CHECK(IsOneLine(conf.error().message));
      return;
    }
    if (const Status used = Use(conf->config); !used) CHECK(IsOneLine(used.error().message));
  }

  void After(std::string_view seconds) {
    constexpr int kMaxSeconds = 1'000'000;
    now_ += std::chrono::seconds(WholeNumber(Trim(seconds), kMaxSeconds).value_or(1));
  }

  void Cycle() {
    if (++cycles_ > kMaxCycles) return;
    Settle();
    scheduler_->Open(now_, nullptr);
    scheduler_->RunActions();
    const CycleResult result = scheduler_->Close();
    for (const CycleResult::Bind& bind : result.binds) {
      CHECK(state_.nodes().Find(state_.nodes().spec(bind.node).name) == bind.node);
      Note(bind.task, binds_);
      feed_.Assume(bind.task);
    }
    for (const CycleResult::EvictionPlan& plan : result.evictions) {
      for (const auto& victim : plan.victims) {
        for (const TaskId task : victim.tasks) {
          Note(task, evictions_);
          feed_.Evict(task);
        }
      }
    }
    for (const auto& [job, refusal] : result.verdicts) {
      CHECK(IsOneLine(refusal.reason) && IsOneLine(refusal.message));
    }
    CHECK(testing::RecountMistakes(state_).empty());
  }

  void Fail() {
    for (const auto& [pod, uid] : std::exchange(binds_, {})) feed_.Forget(pod, uid);
    for (const auto& [pod, uid] : std::exchange(evictions_, {})) feed_.KeepPod(pod, uid);
  }

  // Everything goes; the order is that of kinds, and so another one than that of coming.
  void End() {
    const objects::ObjectSet left = feed_.Objects();
    objects::ForEachList(left, [&](std::string_view kind, const auto& list) {
      for (const auto& object : list) feed_.Remove(kind, object.meta.ns, object.meta.name);
    });
    Settle();
    CHECK(state_.workload().AllTasks().empty());
    CHECK(state_.nodes().all().empty());
    CHECK(state_.workload().jobs().empty());
  }

 private:
  using Pods = std::vector<std::pair<std::string, std::string>>;  // name and uid

  Status Use(const SchedulerConfig& config) {
    TRY_ASSIGN(Scheduler::Made made, Scheduler::Make(config, state_));
    if (scheduler_) made.scheduler->claims() = scheduler_->claims();
    scheduler_ = std::move(made.scheduler);
    scheduler_->LimitWork(kBudget);
    return {};
  }

  void Settle() {
    std::vector<std::string> problems;
    feed_.Settle(problems);
    for (const std::string& problem : problems) CHECK(IsOneLine(problem));
    CHECK(testing::RecountMistakes(state_).empty());
  }

  void Note(TaskId task, Pods& pods) const {
    const std::string& name = state_.workload().task(task).name;
    const objects::Pod* const pod = feed_.FindPod(name);
    CHECK(pod != nullptr);
    pods.emplace_back(name, pod->meta.uid);
  }

  ClusterState state_;
  ClusterFeed feed_;
  std::unique_ptr<Scheduler> scheduler_;
  Time now_{};
  std::size_t cycles_ = 0;
  Pods binds_;
  Pods evictions_;
};

// The event of the line, without its '%'.
void Happen(World& world, std::string_view line, const std::string& text) {
  const std::string_view word = line.substr(0, line.find(' '));
  const std::string rest(line.substr(std::min(line.size(), word.size() + 1)));
  if (word == "put") world.Put(text);
  if (word == "remove") world.Remove(rest);
  if (word == "conf") world.Configure(text);
  if (word == "cycle") world.Cycle();
  if (word == "fail") world.Fail();
  if (word == "after") world.After(rest);
}

}  // namespace
}  // namespace strata

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  strata::World world;
  std::string_view event;
  std::string text;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = std::min(all.find('\n', at), all.size());
    const std::string_view line = all.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with('%')) {
      text.append(line).push_back('\n');
      continue;
    }
    strata::Happen(world, event, text);
    event = line.substr(1);
    text.clear();
  }
  strata::Happen(world, event, text);
  world.Cycle();
  world.Fail();
  world.End();
  return 0;
}
