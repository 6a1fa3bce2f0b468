#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "agent/fabric_report.h"
#include "agent/machine.h"
#include "base/mutex.h"
#include "os/process.h"

namespace strata::agent {

// A thread that reads what the machine sees of the network, once a minute.
class FabricWatch {
 public:
  static constexpr Duration kPeriod = std::chrono::minutes(1);

  struct News {
    std::string text;                   // for the annotation of the Node; "": there is nothing
    std::vector<std::string> problems;  // a line for each that was not there before
  };
  // `machine` is asked for the GPUs before each reading. `tell` is called when there is news, both
  // on the thread.
  FabricWatch(FabricOptions options,
              std::function<MachineView()> machine,
              std::function<void(News)> tell);
  FabricWatch(const FabricWatch&) = delete;
  FabricWatch& operator=(const FabricWatch&) = delete;
  // Waits for the thread: at most for the limits of one switch that does not answer.
  ~FabricWatch();

 private:
  void Work();
  void WaitForNext();
  [[nodiscard]] bool IsStopped();

  const FabricOptions options_;
  const std::function<MachineView()> machine_;
  const std::function<void(News)> tell_;
  const os::Interrupt interrupt_;
  Mutex mutex_;
  CondVar changed_;
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace strata::agent
