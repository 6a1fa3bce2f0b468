#include "explain/subject.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convert/specs.h"
#include "explain/obstacles.h"
#include "explain/own_names.h"
#include "objects/priority.h"
#include "report/names.h"

namespace strata {
namespace {

constexpr std::size_t kNearest = 3;

std::string NameBeside(const objects::Metadata& meta, const std::string& name) {
  return meta.ns + "/" + name;
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

  [[nodiscard]] Result<Subject> Find(const std::string& name) const {
    if (const auto job = objects_.group_of_job.find(name); job != objects_.group_of_job.end()) {
      return Made("Job", name, {job->second});
    }
    if (groups_.contains(name)) return Made("PodGroup", name, {name});
    std::map<std::string, std::set<std::string>> controlled;  // by kind
    for (const objects::Pod& pod : objects_.objects.pods) {
      if (objects::NamespacedName(pod.meta) == name) return Made("Pod", name, {GroupOf(pod)});
      const Controller controller = ControllerOf(pod.meta);
      if (NameBeside(pod.meta, controller.name) != name) continue;
      controlled[controller.kind].insert(GroupOf(pod));
    }
    if (controlled.empty()) return NotFound(name);
    return Made(controlled.begin()->first, name, controlled.begin()->second);
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

  [[nodiscard]] tl::unexpected<Error> NotFound(const std::string& name) const {
    const OwnNames own(objects_);
    std::set<std::string> known;
    for (const auto& [job, group] : objects_.group_of_job) known.insert(job);
    for (const std::string& group : groups_) known.insert(own.Of(group));
    constexpr std::string_view kWanted = "no Job, PodGroup, pod or Deployment";
    if (known.empty()) {
      return Fail(Code::kNotFound, fmt::format("{} {}: there are none", kWanted, name));
    }
    const std::vector<std::string> nearest =
        NearestNames({known.begin(), known.end()}, name, kNearest);
    const std::size_t more = known.size() - nearest.size();
    return Fail(Code::kNotFound,
                fmt::format("{} {}: nearest {} {}{}",
                            kWanted,
                            name,
                            nearest.size() == 1 ? "is" : "are",
                            fmt::join(nearest, ", "),
                            more == 0 ? "" : fmt::format(" (and {} more)", more)));
  }

  const CompletedObjects& objects_;
  std::set<std::string> groups_;   // those there are, and those that pods only name
  std::set<std::string> waiting_;  // with a pod that has no node
};

}  // namespace

Result<Subject> FindSubject(const CompletedObjects& objects, std::string_view name) {
  return Finder(objects).Find(std::string(name));
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
