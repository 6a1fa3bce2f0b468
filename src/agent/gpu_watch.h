#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/gpu_health.h"
#include "agent/health_file.h"
#include "agent/inventory.h"
#include "agent/machine.h"
#include "nvml/nvml_library.h"
#include "nvml/xid_watch.h"

namespace strata::agent {

// Follows the GPUs of this machine through the driver: what is there, how it is linked, what fails.
// The driver may block, so one thread calls this and nothing else; it may go away and come back.
class GpuWatch {
 public:
  struct Options {
    std::string nvml;  // the library; "" for the system's
    std::string sysfs = "/sys";
    std::string proc = "/proc";
    std::int32_t shares = 1;  // containers that may have a GPU together
    HealthRules health;
  };
  // How often the machine is read, whether GPUs answer, and a driver that is away is tried.
  static constexpr Duration kProbePeriod = std::chrono::seconds(30);
  static constexpr Duration kAnswerPeriod = std::chrono::seconds(4);
  static constexpr Duration kMaxAway = std::chrono::seconds(30);

  // `health_text` is what health_text() returned in an earlier process.
  GpuWatch(Options options, std::string_view health_text);

  struct Turned {
    bool changed = false;  // machine() or health_text() is another one
    std::vector<HealthChange> changes;
    std::vector<std::uint64_t> xids;    // that the driver reported, also ignored ones
    std::vector<std::string> problems;  // a line for each that was not there before
    Duration to_wait{0};                // nothing is to be done for so long
  };
  // Does what is due, and then waits at most `limit` for the driver to report an error. Where the
  // driver reports none, it does not wait; the caller does.
  Turned Turn(net::SteadyTime now, Duration limit);

  // Empty until the driver was there once.
  [[nodiscard]] MachineView machine() const { return machine_; }
  [[nodiscard]] std::string health_text() const { return HealthText(life_, health_.errors()); }
  // Why the driver cannot be asked; "" when it can.
  [[nodiscard]] const std::string& away() const { return away_; }

 private:
  void Open(net::SteadyTime now);
  void Close(net::SteadyTime now, std::string why);
  void Probe(net::SteadyTime now, Turned& turned);
  void AskAll(net::SteadyTime now);
  void WaitForXid(net::SteadyTime now, Duration limit, Turned& turned);
  [[nodiscard]] net::SteadyTime NextDue() const;
  void Conclude(Turned& turned);

  const Options options_;
  DriverLife life_;
  GpuHealth health_;
  Inventory inventory_;
  MachineView machine_ = std::make_shared<Machine>();
  std::string told_health_;
  std::vector<std::string> told_problems_;

  std::unique_ptr<nvml::Library> library_;  // none: the driver is away
  std::unique_ptr<nvml::XidWatch> xids_;    // none: it reports no errors
  std::string away_ = "it was not asked yet";
  int failures_ = 0;  // to open it, in a row
  net::SteadyTime next_open_{}, next_probe_{}, next_ask_{};
};

}  // namespace strata::agent
