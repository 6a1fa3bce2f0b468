#include "tests/histories/history.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "tests/histories/process.h"
#include "tests/histories/workload.h"

namespace strata::histories {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Duration kFaults = seconds(60);
// Afterwards, what was under way arrives within a minute, and what failed is tried again after 30 s
// at most; a silent watch is noticed within two minutes.
constexpr Duration kUnderWay = seconds(60);
constexpr Duration kRetries = seconds(35);
constexpr Duration kLongestQuiet = seconds(300);
constexpr Duration kLook = seconds(5);
constexpr Duration kLast = seconds(20);
constexpr int kOfEachKind = 2;

class History {
 public:
  History(std::uint64_t seed, Plot plot)
      : plot_(plot),
        random_(seed),
        trace_(timeline_),
        server_(timeline_, random_.Split(), HistoryEvents(random_)),
        faults_(random_.Split()),
        judge_(server_, trace_),
        // Users bring evicted pods back; a controller would do the same.
        jobs_(plot == Plot::kUsual && random_.OneIn(2) ? Workload::Jobs::kSome
                                                       : Workload::Jobs::kNone),
        workload_(world_, judge_, random_.Split(), jobs_) {
    AddProcesses(SchedulerKind());
    if (jobs_ == Workload::Jobs::kSome) AddProcesses(ControllersKind());
  }

  Report Run() {
    if (plot_ == Plot::kEvictions) workload_.AddResidents();
    workload_.Start(kFaults);
    for (const auto& process : processes_) process->Start();
    const auto blows = random_.From(0, 8);
    for (int i = 0; i < blows; ++i) {
      timeline_.After(random_.Between(seconds(0), kFaults), [this] { Strike(); });
    }
    timeline_.RunUntil(timeline_.now() + kFaults);
    trace_.Say("faults", "are over");
    calm_ = true;
    faults_.Stop();
    workload_.Calm();
    for (const auto& process : processes_) process->Calm();
    Settle();
    workload_.AddLastNode();
    timeline_.RunUntil(timeline_.now() + kLast);
    if (plot_ == Plot::kEvictions) Settle();  // pods that have become old enough to go may be going
    judge_.Conclude();
    return {.broken = judge_.broken(),
            .problems = judge_.problems(),
            .binds = judge_.binds(),
            .evictions = judge_.evictions(),
            .trace = trace_.text()};
  }

 private:
  static std::size_t HistoryEvents(Random& random) {
    constexpr std::array<std::size_t, 3> kEvents = {5, 50, 100'000};
    return kEvents[static_cast<std::size_t>(random.Below(kEvents.size()))];
  }

  void AddProcesses(const PartKind& kind) {
    for (int i = 0; i < kOfEachKind; ++i) {
      processes_.push_back(std::make_unique<Process>(world_, kind, i, random_.Split()));
    }
  }

  // Runs until nothing is left to happen.
  void Settle() {
    const net::SteadyTime begin = timeline_.now();
    net::SteadyTime unquiet = begin;
    int changes = judge_.changes();
    while (timeline_.now() < begin + kLongestQuiet &&
           (timeline_.now() < begin + kUnderWay || timeline_.now() < unquiet + kRetries)) {
      timeline_.RunUntil(timeline_.now() + kLook);
      if (judge_.changes() != changes || HasSilentWatch()) unquiet = timeline_.now();
      changes = judge_.changes();
    }
  }
  [[nodiscard]] bool HasSilentWatch() const {
    return std::any_of(processes_.begin(), processes_.end(), [](const auto& process) {
      return process->HasSilentWatch();
    });
  }

  // The other scheduler does not see the bind, and soon leads.
  void BeforeBind(int process) {
    if (calm_ || !random_.OneIn(8)) return;
    processes_[static_cast<std::size_t>(1 - process)]->SilencePods();
    timeline_.After(random_.Between(seconds(0), seconds(2)), [this, process] {
      if (!calm_) processes_[static_cast<std::size_t>(process)]->Stop();
    });
  }

  void Strike() {
    Process& process = *processes_[static_cast<std::size_t>(
        random_.Below(static_cast<std::int64_t>(processes_.size())))];
    switch (random_.Below(4)) {
      case 0:
        return process.Kill();
      case 1:
        return process.Stop();
      case 2:
        if (faults_.pauses()) process.Pause(random_.Between(seconds(1), seconds(45)));
        return;
      default:
        return process.StepClock(random_.Between(-minutes(60), minutes(60)));
    }
  }

  const Plot plot_;
  Random random_;
  Timeline timeline_;
  Trace trace_;
  Server server_;
  Faults faults_;
  const World world_{timeline_,
                     server_,
                     faults_,
                     trace_,
                     [this] { workload_.SendRival(); },
                     [this](int process) { BeforeBind(process); },
                     [this](const std::string& path) { judge_.SeeLateBind(path); },
                     [this](const auto& lease, const auto& identity, const auto& request) {
                       judge_.SeeWrite(lease, identity, request);
                     }};
  Judge judge_;
  const Workload::Jobs jobs_;
  Workload workload_;
  bool calm_ = false;
  std::vector<std::unique_ptr<Process>> processes_;  // schedulers first
};

}  // namespace

Report RunHistory(std::uint64_t seed, Plot plot) {
  History history(seed, plot);
  Report report = history.Run();
  report.seed = seed;
  return report;
}

}  // namespace strata::histories
