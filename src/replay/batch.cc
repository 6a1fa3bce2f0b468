#include "replay/batch.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
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

  // False when no other run is to begin.
  bool RunOne(std::size_t run) {
    auto policy = MakePolicy(runs_[run].policy, workload_, fabric_, runs_[run].seed);
    if (!policy) {
      const MutexLock lock(mutex_);
      errors_[run] = std::move(policy.error());
      stopped_ = true;
      return false;
    }
    EngineOptions engine = options_.engine;
    engine.go_on = [this, run](std::size_t over) { return Report(run, over); };
    const EngineResult result = Replay(workload_, fabric_, engine, **policy);
    if (const Status problem = (*policy)->Problem(); !problem) {
      const MutexLock lock(mutex_);
      errors_[run] = problem.error();
      stopped_ = true;
      return false;
    }
    if (result.stopped) return false;
    const bool more = Report(run, workload_.jobs.size());
    const MutexLock lock(mutex_);
    options_.on_result(run, result);
    return more;
  }

  Status FirstError() {
    const MutexLock lock(mutex_);
    for (std::optional<Error>& error : errors_) {
      if (error) return tl::unexpected<Error>(std::move(*error));
    }
    return {};
  }

 private:
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
  bool stopped_ GUARDED_BY(mutex_) = false;
  std::size_t total_ GUARDED_BY(mutex_) = 0;
  std::vector<std::size_t> over_ GUARDED_BY(mutex_);
  std::vector<std::optional<Error>> errors_ GUARDED_BY(mutex_);
};

}  // namespace

void RunInParallel(std::size_t count,
                   unsigned threads,
                   const std::function<bool(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  const auto take = [&] {
    while (!stopped) {
      const std::size_t index = next++;
      if (index >= count) return;
      if (!work(index)) stopped = true;
    }
  };
  std::vector<std::jthread> helpers;
  const std::size_t wanted = std::min<std::size_t>(threads, count);
  for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(take);
  take();
}

Status RunBatch(const Workload& workload,
                const Fabric& fabric,
                const std::vector<BatchRun>& runs,
                const BatchOptions& options) {
  Batch batch(workload, fabric, runs, options);
  RunInParallel(runs.size(), options.threads, [&](std::size_t run) { return batch.RunOne(run); });
  return batch.FirstError();
}

}  // namespace strata::replay
