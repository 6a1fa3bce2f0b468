#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "controllers/cache.h"
#include "controllers/controller.h"
#include "controllers/job_reconcile.h"

namespace strata::controllers {

// Gathers what ReconcileJob is to see, and remembers what it wants remembered. Thread-safe.
class JobDesk {
 public:
  // Both references must outlive it. `scheduler` is that of jobs that name none.
  JobDesk(const Cache& cache, const Clock& clock, MakeSshKeys make_keys, std::string scheduler)
      : cache_(cache),
        clock_(clock),
        make_keys_(std::move(make_keys)),
        scheduler_(std::move(scheduler)) {}

  // The work for "namespace/name"; none for a job that is not there.
  [[nodiscard]] Controller::Work Decide(const std::string& key);

  // A pod of a job is gone.
  void NotePodGone(const PodSeen& pod);
  // A job is gone.
  void Forget(const std::string& job_uid);
  // The number of jobs that something is remembered of.
  [[nodiscard]] std::size_t remembered() const;

 private:
  [[nodiscard]] JobView ViewOf(const ObjectRef& job, const kube::ObjectKey& key) const;
  [[nodiscard]] ObjectRef GroupOf(const nlohmann::json& job, const kube::ObjectKey& key) const;
  void Remember(const ObjectRef& job, const JobMemory& used, JobMemory next);
  void RememberRefusal(const ObjectRef& job, const std::string& refusal);

  const Cache& cache_;
  const Clock& clock_;
  const MakeSshKeys make_keys_;
  const std::string scheduler_;
  mutable Mutex mutex_;
  std::map<std::string, JobMemory> memory_ GUARDED_BY(mutex_);  // by uid of the job
};

// "namespace/name", or "name" for objects of the cluster; and back.
[[nodiscard]] std::string KeyText(const kube::ObjectKey& key);
[[nodiscard]] kube::ObjectKey KeyFrom(const std::string& text);

// The Commands for an object: of its kind and name, and of its uid where they say one.
[[nodiscard]] std::vector<ObjectRef> CommandsFor(const Cache& cache,
                                                 const kube::Resource& resource,
                                                 const nlohmann::json& object);

// The priority classes that there are.
[[nodiscard]] objects::PriorityTable PrioritiesIn(const Cache& cache);

}  // namespace strata::controllers
