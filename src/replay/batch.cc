#include "replay/batch.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace strata::replay {
namespace {

class Batch {
 public:
  Batch(const Workload& workload,
        const Fabric& fabric,
        const std::vector<BatchRun>& runs,
        const BatchOptions& options)
      : workload_(workload), fabric_(fabric), runs_(runs), options_(options) {
    errors_.resize(runs.size());
    over_.resize(runs.size());
  }

  // Takes one run after another until none is left.
  void Work() {
    while (const auto run = Take()) RunOne(*run);
  }

  Status FirstError() {
    const MutexLock lock(mutex_);
    for (std::optional<Error>& error : errors_) {
      if (error) return tl::unexpected<Error>(std::move(*error));
    }
    return {};
  }

 private:
  std::optional<std::size_t> Take() {
    const MutexLock lock(mutex_);
    if (stopped_ || next_ == runs_.size()) return std::nullopt;
    return next_++;
  }

  void RunOne(std::size_t run) {
    auto policy = MakePolicy(runs_[run].policy, workload_, fabric_, runs_[run].seed);
    if (!policy) {
      const MutexLock lock(mutex_);
      errors_[run] = std::move(policy.error());
      stopped_ = true;
      return;
    }
    EngineOptions engine = options_.engine;
    engine.go_on = [this, run](std::size_t over) { return Report(run, over); };
    const EngineResult result = Replay(workload_, fabric_, engine, **policy);
    if (result.stopped) return;
    Report(run, workload_.jobs.size());
    const MutexLock lock(mutex_);
    options_.on_result(run, result);
  }

  bool Report(std::size_t run, std::size_t over) {
    const MutexLock lock(mutex_);
    total_ += over - over_[run];
    over_[run] = over;
    if (options_.on_progress && !options_.on_progress(total_)) stopped_ = true;
    return !stopped_;
  }

  const Workload& workload_;
  const Fabric& fabric_;
  const std::vector<BatchRun>& runs_;
  const BatchOptions& options_;

  Mutex mutex_;
  std::size_t next_ GUARDED_BY(mutex_) = 0;
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::size_t total_ GUARDED_BY(mutex_) = 0;
  std::vector<std::size_t> over_ GUARDED_BY(mutex_);
  std::vector<std::optional<Error>> errors_ GUARDED_BY(mutex_);
};

}  // namespace

Status RunBatch(const Workload& workload,
                const Fabric& fabric,
                const std::vector<BatchRun>& runs,
                const BatchOptions& options) {
  Batch batch(workload, fabric, runs, options);
  {
    std::vector<std::jthread> helpers;
    const std::size_t wanted = std::min<std::size_t>(options.threads, runs.size());
    for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back([&batch] { batch.Work(); });
    batch.Work();
  }
  return batch.FirstError();
}

}  // namespace strata::replay
