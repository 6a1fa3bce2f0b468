#include "agent/fabric_watch.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace strata::agent {

FabricWatch::FabricWatch(FabricOptions options,
                         std::function<MachineView()> machine,
                         std::function<void(News)> tell)
    : options_(std::move(options)),
      machine_(std::move(machine)),
      tell_(std::move(tell)),
      thread_([this] { Work(); }) {}

FabricWatch::~FabricWatch() {
  {
    const MutexLock lock(mutex_);
    stopped_ = true;
    changed_.NotifyAll();
  }
  interrupt_.Fire();
  thread_.join();
}

void FabricWatch::Work() {
  std::optional<std::string> told;
  std::vector<std::string> told_problems;
  while (!IsStopped()) {
    FabricReport found = ReadFabric(options_, *machine_(), &interrupt_);
    if (IsStopped()) return;  // what was interrupted says nothing
    News news;
    if (!found.report.empty()) news.text = discovery::NodeReportText(found.report);
    for (const std::string& problem : found.problems) {
      const bool known =
          std::find(told_problems.begin(), told_problems.end(), problem) != told_problems.end();
      if (!known) news.problems.push_back(problem);
    }
    told_problems = std::move(found.problems);
    if (news.text != told || !news.problems.empty()) {
      told = news.text;
      tell_(std::move(news));
    }
    WaitForNext();
  }
}

void FabricWatch::WaitForNext() {
  const auto end = std::chrono::steady_clock::now() + kPeriod;
  const MutexLock lock(mutex_);
  while (!stopped_ && changed_.WaitUntil(mutex_, end)) {
  }
}

bool FabricWatch::IsStopped() {
  const MutexLock lock(mutex_);
  return stopped_;
}

}  // namespace strata::agent
