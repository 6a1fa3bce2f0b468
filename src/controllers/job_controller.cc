#include "controllers/job_controller.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "controllers/object_meta.h"
#include "json/access.h"

namespace strata::controllers {

using nlohmann::json;

std::string KeyText(const kube::ObjectKey& key) {
  return key.ns.empty() ? key.name : key.ns + "/" + key.name;
}

kube::ObjectKey KeyFrom(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return {"", text};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

std::vector<ObjectRef> CommandsFor(const Cache& cache,
                                   const kube::Resource& resource,
                                   const json& object) {
  std::vector<ObjectRef> commands = cache.All(kube::kCommands);
  std::erase_if(commands, [&](const ObjectRef& command) {
    const json& target = ObjectAt(*command, {"target"});
    const std::string& uid = TextAt(target, {"uid"});
    const bool same_namespace =
        resource.scope == kube::Resource::Scope::kCluster ||
        TextAt(*command, {"metadata", "namespace"}) == TextAt(object, {"metadata", "namespace"});
    return TextAt(target, {"kind"}) != resource.kind || !same_namespace ||
           TextAt(target, {"name"}) != TextAt(object, {"metadata", "name"}) ||
           (!uid.empty() && uid != TextAt(object, {"metadata", "uid"})) || IsBeingDeleted(*command);
  });
  return commands;
}

objects::PriorityTable PrioritiesIn(const Cache& cache) {
  std::vector<objects::PriorityClass> classes;
  for (const ObjectRef& object : cache.All(kube::kPriorityClasses)) {
    objects::PriorityClass& made = classes.emplace_back();
    made.meta.name = TextAt(*object, {"metadata", "name"});
    made.value = static_cast<std::int32_t>(IntegerAt(*object, {"value"}));
    made.global_default = BoolAt(*object, {"globalDefault"});
  }
  return objects::PriorityTable(classes);
}

Controller::Work JobDesk::Decide(const std::string& key) {
  const kube::ObjectKey object_key = KeyFrom(key);
  const ObjectRef job = cache_.Find(kube::kJobs, object_key);
  if (job == nullptr) return {};
  JobView view = ViewOf(job, object_key);
  {
    const MutexLock lock(mutex_);
    const auto found = memory_.find(TextAt(*job, {"metadata", "uid"}));
    if (found != memory_.end()) view.memory = found->second;
  }
  JobPlan made = ReconcileJob(view);
  return {.plan = std::move(made.plan),
          .done =
              [this, job, used = std::move(view.memory), next = std::move(made.memory)] {
                Remember(job, used, next);
              },
          .refused = [this, job](const std::string& refusal) { RememberRefusal(job, refusal); }};
}

void JobDesk::NotePodGone(const PodSeen& pod) {
  if (pod.finished() || pod.out_of_sync) return;
  const MutexLock lock(mutex_);
  const ObjectRef job = cache_.Find(kube::kJobs, {pod.key.ns, pod.job});
  if (job == nullptr || TextAt(*job, {"metadata", "uid"}) != pod.owner_uid) return;
  memory_[pod.owner_uid].lost.push_back(pod);
}

void JobDesk::Forget(const std::string& job_uid) {
  const MutexLock lock(mutex_);
  memory_.erase(job_uid);
}

std::size_t JobDesk::remembered() const {
  const MutexLock lock(mutex_);
  return memory_.size();
}

JobView JobDesk::ViewOf(const ObjectRef& job, const kube::ObjectKey& key) const {
  return {.job = job,
          .pod_group = GroupOf(*job, key),
          .pods = cache_.PodsOf(TextAt(*job, {"metadata", "uid"})),
          .commands = CommandsFor(cache_, kube::kJobs, *job),
          .memory = {},
          .priorities = PrioritiesIn(cache_),
          .make_keys = make_keys_,
          .now = clock_.Now(),
          .scheduler = scheduler_};
}

ObjectRef JobDesk::GroupOf(const json& job, const kube::ObjectKey& key) const {
  const std::string own = key.name + "-" + TextAt(job, {"metadata", "uid"});
  if (ObjectRef group = cache_.Find(kube::kPodGroups, {key.ns, own})) return group;
  return cache_.Find(kube::kPodGroups, key);
}

// The next plan puts it into the status; a plan that succeeds takes it out again.
void JobDesk::RememberRefusal(const ObjectRef& job, const std::string& refusal) {
  const json& meta = ObjectAt(*job, {"metadata"});
  const MutexLock lock(mutex_);
  const ObjectRef known =
      cache_.Find(kube::kJobs, {TextAt(meta, {"namespace"}), TextAt(meta, {"name"})});
  if (known == nullptr || TextAt(*known, {"metadata", "uid"}) != TextAt(meta, {"uid"})) return;
  memory_[TextAt(meta, {"uid"})].refusal = refusal;
}

// Pods that went while the plan was carried out are kept for the next. A job that went meanwhile is
// not in the cache any more, and was or will be forgotten: nothing is left of it.
void JobDesk::Remember(const ObjectRef& job, const JobMemory& used, JobMemory next) {
  const json& meta = ObjectAt(*job, {"metadata"});
  const std::string& uid = TextAt(meta, {"uid"});
  const MutexLock lock(mutex_);
  const ObjectRef known =
      cache_.Find(kube::kJobs, {TextAt(meta, {"namespace"}), TextAt(meta, {"name"})});
  if (known == nullptr || TextAt(*known, {"metadata", "uid"}) != uid) return;
  JobMemory& memory = memory_[uid];
  std::vector<PodSeen> newer;
  for (const PodSeen& pod : memory.lost) {
    const auto asked = std::find(used.lost.begin(), used.lost.end(), pod);
    if (asked == used.lost.end()) newer.push_back(pod);
  }
  memory = std::move(next);
  std::move(newer.begin(), newer.end(), std::back_inserter(memory.lost));
}

}  // namespace strata::controllers
