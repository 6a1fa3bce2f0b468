#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/admission.h"
#include "agent/allocate_answer.h"
#include "agent/journal_file.h"
#include "agent/machine.h"
#include "agent/preferred_allocation.h"
#include "agent/reconcile.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "device_plugin/effects.h"
#include "device_plugin/pod_source.h"
#include "obs/log.h"

namespace strata::device_plugin {

struct AllocationOptions {
  std::string node;
  agent::AnswerOptions answer;
  Duration source_limit = std::chrono::seconds(8);  // the kubelet gets an answer within 10 s
};

// What has happened since the start.
struct AllocationCounters {
  std::int64_t served = 0;
  std::int64_t refused = 0;
  std::int64_t ambiguous = 0;    // several pods might have been meant
  std::int64_t ids_differ = 0;   // the record named other GPUs than the ids
  std::int64_t again = 0;        // served before
  std::int64_t differences = 0;  // found by Reconcile
  std::int64_t corrections = 0;
};

// Answers the kubelet: finds out which container it asks for, writes the answer down, gives it. The
// decisions are those of src/agent. Thread-safe; no lock is held while a source is asked.
class Allocations {
 public:
  using Sources = std::vector<std::unique_ptr<PodSource>>;  // the first that is available is used
  struct Outside {
    std::function<agent::MachineView()> machine;  // null until the GPUs are known
    Effects& effects;
    const Clock& clock;
    const obs::Log& log;
  };

  // Where no source has ever been available every container gets the GPUs of its ids: for clusters
  // in which no scheduler writes records.
  Allocations(AllocationOptions options,
              Sources sources,
              std::unique_ptr<agent::JournalFile> journal,
              Outside outside);

  // The error is the sentence that the user finds in the pod's status.
  [[nodiscard]] Result<agent::AllocateAnswer> Allocate(const std::vector<std::string>& ids);
  // Never fails: where the pod cannot be known it is the best set by links.
  [[nodiscard]] std::vector<std::string> Prefer(const agent::PreferredRequest& request);

  // The journal against what containers hold. Not while the kubelet waits for an answer.
  enum class Reports : std::uint8_t { kAll, kNoAdopted };
  [[nodiscard]] Status Reconcile(const std::vector<agent::HeldDevices>& held, Reports reports);
  // The journal was lost: Reconcile rebuilds it.
  [[nodiscard]] bool journal_incomplete() const;

  // "pods-api", "pods", "lock"; "none" without a source.
  [[nodiscard]] std::string identity() const;
  [[nodiscard]] AllocationCounters counters() const;
  [[nodiscard]] agent::Journal journal() const;

 private:
  struct Decision {
    agent::AdmittedSlot slot;
    agent::Settlement settlement;
  };

  [[nodiscard]] PodSource* Source() const;
  [[nodiscard]] Result<KnownPods> ListPods() const;
  [[nodiscard]] agent::AdmissionInput InputOf(const KnownPods& known,
                                              const agent::Machine& machine) const REQUIRES(mutex_);
  [[nodiscard]] Result<agent::AllocateAnswer> AllocateByIds(const agent::Machine& machine,
                                                            const std::vector<std::string>& ids);
  [[nodiscard]] Result<agent::AllocateAnswer> AllocateFor(const KnownPods& known,
                                                          const agent::Machine& machine,
                                                          const std::vector<std::string>& ids);
  [[nodiscard]] tl::expected<Decision, agent::AdmissionRefusal> Decide(
      const KnownPods& known, const agent::Machine& machine, const std::vector<std::string>& ids);
  [[nodiscard]] Result<agent::AllocateAnswer> Answer(const agent::KnownPod& pod,
                                                     const agent::AdmittedSlot& slot,
                                                     const agent::Machine& machine) const;
  void Tell(const agent::KnownPod& pod,
            const agent::AdmittedSlot& slot,
            const std::vector<std::string>& ids) const;

  const AllocationOptions options_;
  const Sources sources_;
  static constexpr std::size_t kNoSource = SIZE_MAX;
  mutable std::atomic<std::size_t> best_source_ = kNoSource;  // of those that were ever available
  const Outside outside_;
  mutable Mutex mutex_;
  const std::unique_ptr<agent::JournalFile> journal_ GUARDED_BY(mutex_);
  AllocationCounters counters_ GUARDED_BY(mutex_);
};

}  // namespace strata::device_plugin
