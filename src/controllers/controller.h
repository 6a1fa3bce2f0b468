#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "controllers/apply.h"
#include "controllers/awaited_writes.h"
#include "controllers/cache.h"
#include "controllers/plan.h"
#include "kube/client.h"
#include "kube/event_recorder.h"
#include "kube/liveness.h"
#include "kube/mailbox.h"
#include "kube/work_queue.h"
#include "obs/log.h"
#include "obs/metric_families.h"

namespace strata::controllers {

// What all controllers write with.
struct Tools {
  kube::Client& client;
  const Cache& cache;
  kube::EventRecorder& events;
  obs::Log& log;
  std::shared_ptr<const kube::Leadership> leadership;
  kube::Liveness& liveness;
};

// A work queue and threads around a function from a key to a plan.
//
// The function never sees the cluster as it was before its own last plan for that key: a key whose
// writes have not come back yet is put off until they have. So it needs no memory of what it has
// done, and what it creates under fixed names it creates once.
class Controller {
 public:
  struct Work {
    Plan plan;
    std::function<void()> done;  // when every write has succeeded; may be empty
    // When the server refused a write, with Applied::refusal; may be empty.
    std::function<void(const std::string& refusal)> refused = {};
  };
  using Decide = std::function<Work(const std::string& key)>;

  // `tools` must outlive it.
  Controller(std::string name, const Tools& tools, Decide decide);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  ~Controller();

  // Each is followed by a look at the key. From any thread.
  void Add(const std::string& key) { queue_.Add(key); }
  void AddAfter(const std::string& key, Duration delay) { queue_.AddAfter(key, delay); }

  void Start(int workers);
  // Ends the workers once each has finished its plan. Once.
  void Stop();

  // The same without threads, for a caller that has a time of its own, instead of Start: begins
  // what is due, at most so many plans at a time. Their ends come by `mailbox`, whose letters the
  // caller runs on the thread of Step while this lives. What Decide does must not wait.
  void Step(int plans, const std::shared_ptr<kube::Mailbox>& mailbox);
  [[nodiscard]] bool IsBusy() const { return under_way_ > 0; }
  // When Step is to be called again, unless letters come.
  [[nodiscard]] std::optional<net::SteadyTime> NextStep();

  struct Counters {
    std::uint64_t plans = 0;
    std::uint64_t writes = 0;
    std::uint64_t failures = 0;
  };
  [[nodiscard]] Counters counters() const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  void Run();
  [[nodiscard]] bool Leads() const;
  // What is to be done now; nothing: the key comes again.
  [[nodiscard]] std::optional<Work> Look(const std::string& key);
  void End(const std::string& key, const Work& work, Applied applied);
  void TellRefusal(const Work& work, const std::string& refusal);
  [[nodiscard]] bool SeesOwnWrites(const std::string& key);
  void Await(const std::string& key, std::vector<Cache::Expectation> left);

  const std::string name_;
  const Tools& tools_;
  const Decide decide_;
  kube::WorkQueue queue_;
  Mutex mutex_;
  AwaitedWrites awaited_ GUARDED_BY(mutex_);
  std::vector<std::thread> workers_;
  int under_way_ = 0;  // plans of Step
  int most_under_way_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> plans_{0};
  std::atomic<std::uint64_t> writes_{0};
  std::atomic<std::uint64_t> failures_{0};
};

// strata_controllers_plans_total{controller="job"} and so on.
[[nodiscard]] obs::Families CounterMetrics(const std::vector<const Controller*>& controllers);

}  // namespace strata::controllers
