#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "net/transport.h"

namespace strata::agent {

enum class Health : std::uint8_t {
  kHealthy,
  kSuspect,    // it did not answer once; new pods still get it
  kUnhealthy,  // new pods do not get it
};

struct HealthRules {
  // Errors of an application, not of the GPU.
  std::set<std::uint64_t> ignored_xids = {13, 31, 43, 45, 68, 109};
  // After an error of this kind a GPU is of no use until its driver is loaded again.
  std::set<std::uint64_t> lasting_xids = {48, 62, 64, 74, 79, 95, 119, 120, 140};
  // After any other it is, when it has answered and reported nothing for so long.
  Duration recovery = std::chrono::minutes(10);
};

struct HealthChange {
  std::string uuid;
  Health before = Health::kHealthy;
  Health after = Health::kHealthy;
  std::string why;  // a part of a sentence: "XID 79"
};

// Which GPUs of a machine may be given to pods, by what the driver reports. A GPU that fails is
// nobody's trouble but its own. A value; time is an argument.
class GpuHealth {
 public:
  explicit GpuHealth(HealthRules rules) : rules_(std::move(rules)) {}

  // The driver reported a critical error; `uuid` may be "" when it does not say whose.
  void TakeXid(const std::string& uuid, std::uint64_t xid, net::SteadyTime now);
  // Every GPU was asked, and these answered. Others that were seen before did not.
  void TakeAnswers(std::span<const std::string> uuids, net::SteadyTime now);
  // The driver was loaded again: what it reported before is over.
  void ForgetErrors();

  // A GPU that was never seen is unhealthy.
  [[nodiscard]] Health Of(const std::string& uuid) const;
  // What changed since the last call, in order.
  [[nodiscard]] std::vector<HealthChange> TakeChanges();

  // ---- what the next process of this boot must know
  struct Error {
    std::uint64_t xid = 0;
    net::SteadyTime at{};  // of the last one
    friend bool operator==(const Error&, const Error&) = default;
  };
  using Errors = std::map<std::string, Error>;  // by UUID
  [[nodiscard]] Errors errors() const;
  void Restore(const Errors& errors);

 private:
  struct Gpu {
    Health health = Health::kHealthy;
    int missed = 0;  // answers, in a row
    std::optional<Error> error = std::nullopt;
  };

  void Set(const std::string& uuid, Gpu& gpu, Health health, std::string why);
  void Judge(const std::string& uuid, Gpu& gpu, net::SteadyTime now);

  HealthRules rules_;
  std::map<std::string, Gpu> gpus_;
  std::vector<HealthChange> changes_;
};

}  // namespace strata::agent
