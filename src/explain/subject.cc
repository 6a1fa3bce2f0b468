#include "explain/subject.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "convert/specs.h"
#include "explain/obstacles.h"
#include "explain/own_names.h"
#include "objects/priority.h"
#include "report/names.h"

namespace strata {
namespace {

std::string NameBeside(const objects::Metadata& meta, const std::string& name) {
  return meta.ns + "/" + name;
}

// Whether the pod's own controller is meant, such as the ReplicaSet of a Deployment.
bool IsOwner(const objects::Metadata& pod, const std::string& name, std::string_view kind) {
  return std::any_of(pod.owners.begin(), pod.owners.end(), [&](const auto& owner) {
    return owner.controller && (kind.empty() || owner.kind == kind) &&
           NameBeside(pod, owner.name) == name;
  });
}

class Finder {
 public:
  explicit Finder(const CompletedObjects& objects) : objects_(objects) {
    for (const objects::PodGroup& group : objects.objects.pod_groups) {
      groups_.insert(objects::NamespacedName(group.meta));
    }
    for (const objects::Pod& pod : objects.objects.pods) {
      const std::string group = GroupOf(pod);
      if (group.empty() || !objects.takes(pod)) continue;
      groups_.insert(group);
      if (pod.spec.node_name.empty()) waiting_.insert(group);
    }
  }

  [[nodiscard]] Result<Subject> Find(const std::string& name, std::string_view kind) const {
    const auto asks = [&](std::string_view one) { return kind.empty() || kind == one; };
    const auto job = objects_.group_of_job.find(name);
    if (asks("Job") && job != objects_.group_of_job.end()) {
      return Made("Job", name, {job->second});
    }
    if (asks("PodGroup") && groups_.contains(name)) return Made("PodGroup", name, {name});
    // By kind and name, of those that have that name.
    std::map<std::pair<std::string, std::string>, std::set<std::string>> controlled;
    for (const objects::Pod& pod : objects_.objects.pods) {
      if (asks("Pod") && objects::NamespacedName(pod.meta) == name) {
        return Made("Pod", name, {GroupOf(pod)});
      }
      const Controller controller = ControllerOf(pod.meta);
      const std::string own = NameBeside(pod.meta, controller.name);
      if (!(own == name && asks(controller.kind)) && !IsOwner(pod.meta, name, kind)) continue;
      controlled[{controller.kind, own}].insert(GroupOf(pod));
    }
    if (controlled.empty()) return NotFound(name, kind);
    const auto& [which, groups] = *controlled.begin();
    return Made(which.first, which.second, groups);
  }

 private:
  [[nodiscard]] Subject Made(std::string kind,
                             const std::string& name,
                             const std::set<std::string>& groups) const {
    Subject subject{std::move(kind), name, {}};
    for (const std::string& group : groups) {
      if (groups_.contains(group)) subject.groups.push_back(group);
    }
    std::stable_partition(subject.groups.begin(), subject.groups.end(), [&](const auto& group) {
      return waiting_.contains(group);
    });
    return subject;
  }

  [[nodiscard]] tl::unexpected<Error> NotFound(const std::string& name,
                                               std::string_view kind) const {
    const OwnNames own(objects_);
    std::set<std::string> known;
    for (const auto& [job, group] : objects_.group_of_job) known.insert(job);
    for (const std::string& group : groups_) known.insert(own.Of(group));
    for (const objects::Pod& pod : objects_.objects.pods) {
      known.insert(objects::NamespacedName(pod.meta));
    }
    const std::string wanted =
        kind.empty() ? "Job, PodGroup, pod or Deployment" : std::string(kind);
    std::string clause =
        known.empty() ? "; there are none" : NearestClause({known.begin(), known.end()}, name);
    if (clause.empty()) clause = "; \"strata job list -A\" shows what there is";
    return Fail(Code::kNotFound, fmt::format("no {} {}:{}", wanted, name, clause.substr(1)));
  }

  const CompletedObjects& objects_;
  std::set<std::string> groups_;   // those there are, and those that pods only name
  std::set<std::string> waiting_;  // with a pod that has no node
};

}  // namespace

Result<Subject> FindSubject(const CompletedObjects& objects,
                            std::string_view name,
                            std::string_view kind) {
  return Finder(objects).Find(std::string(name), kind);
}

objects::MakesPods MakesUpPods(const objects::ObjectSet& objects, std::string_view name) {
  std::set<std::string> admitted;
  for (const objects::PodGroup& group : objects.pod_groups) {
    if (group.phase != objects::PodGroupPhase::kPending) {
      admitted.insert(objects::NamespacedName(group.meta));
    }
  }
  const auto groups = objects::GroupsOfJobs(objects);
  const objects::PriorityTable classes(objects.priority_classes);
  std::set<std::string> chosen;
  for (const objects::Job& job : objects.jobs) {
    const std::string own = objects::NamespacedName(job.meta);
    const std::string& group = groups.at(own);
    if (admitted.contains(group)) continue;
    if (own != name && group != name && !MissingClasses(classes, job).empty()) continue;
    chosen.insert(own);
  }
  return [chosen = std::move(chosen)](const objects::Job& job) {
    return chosen.contains(objects::NamespacedName(job.meta));
  };
}

}  // namespace strata
