#include "explain/obstacles.h"

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "convert/specs.h"
#include "explain/facts.h"
#include "objects/volcano_keys.h"
#include "report/names.h"
#include "whatif/changes.h"

namespace strata {
namespace {

// "its pod", "its 4 pods", "1 of its 4 pods".
std::string SomePods(std::size_t wanted, std::size_t count) {
  const std::string all = wanted == 1 ? "its pod" : fmt::format("its {} pods", wanted);
  return count >= wanted ? all : fmt::format("{} of {}", count, all);
}

Obstacle MissingClass(const std::string& name,
                      const std::vector<std::string>& known,
                      const std::string& pods) {
  Obstacle obstacle{
      .reason = "PriorityClassNotFound",
      .message =
          fmt::format("PriorityClass \"{}\" does not exist, so {} cannot be created", name, pods),
      .advice = fmt::format("create PriorityClass {}", name),
      .command = {fmt::format("kubectl create priorityclass {} --value=0", ShellWord(name))},
      .name = name};
  const std::vector<std::string> similar = SimilarNames(known, name, 1);
  if (!similar.empty()) {
    obstacle.advice += fmt::format(", or name {} in the Job", similar.front());
  }
  return obstacle;
}

Obstacle Unserved(const CompletedObjects& objects,
                  const std::string& group,
                  const std::string& name,
                  std::size_t pods) {
  const std::vector<std::string> served(objects::kUsualSchedulers.begin(),
                                        objects::kUsualSchedulers.end());
  const std::size_t wanted = FindReality(objects, group).wanted;
  Obstacle obstacle{.reason = "SchedulerNotFound",
                    .message = fmt::format("no scheduler serves schedulerName \"{}\" of {} (served "
                                           "here: {})",
                                           name,
                                           SomePods(wanted, pods),
                                           fmt::join(served, ", ")),
                    .advice = {},
                    .command = {},
                    .name = name};
  const std::vector<std::string> similar = SimilarNames(served, name, 1);
  const std::string better = similar.empty() ? served.front() : similar.front();
  if (FindGroup(objects.objects, group) != nullptr) {
    obstacle.command = JobCommands(objects, group).SetScheduler(name, better);
  }
  obstacle.advice = fmt::format(
      "set schedulerName: {}{}", better, obstacle.command.restarts ? " (restarts the job)" : "");
  return obstacle;
}

}  // namespace

std::set<std::string> MissingClasses(const objects::PriorityTable& classes,
                                     const objects::Job& job) {
  std::set<std::string> missing;
  for (const objects::JobTask& task : job.tasks) {
    const std::string& own = task.pod_template.spec.priority_class_name;
    const std::string& name = own.empty() ? job.priority_class_name : own;
    if (!name.empty() && !classes.ValueOf(name)) missing.insert(name);
  }
  return missing;
}

std::vector<Obstacle> FindMissingClasses(const CompletedObjects& objects,
                                         const std::string& group) {
  const objects::Job* job = JobOfGroup(objects, group);
  const Reality reality = FindReality(objects, group);
  if (job == nullptr || reality.exist >= reality.wanted) return {};
  std::vector<std::string> known;
  known.reserve(objects.objects.priority_classes.size());
  for (const auto& one : objects.objects.priority_classes) known.push_back(one.meta.name);
  const std::string pods = SomePods(reality.wanted, reality.wanted - reality.exist);
  const objects::PriorityTable classes(objects.objects.priority_classes);
  std::vector<Obstacle> obstacles;
  for (const std::string& name : MissingClasses(classes, *job)) {
    obstacles.push_back(MissingClass(name, known, pods));
  }
  return obstacles;
}

std::vector<Obstacle> FindUnserved(const CompletedObjects& objects, const std::string& group) {
  std::map<std::string, std::size_t> pods;  // by schedulerName
  for (const objects::Pod& pod : objects.objects.pods) {
    if (GroupOf(pod) != group || objects.takes(pod) || !NobodyLooked(pod)) continue;
    ++pods[pod.spec.scheduler_name];
  }
  std::vector<Obstacle> obstacles;
  obstacles.reserve(pods.size());
  for (const auto& [name, count] : pods) {
    obstacles.push_back(Unserved(objects, group, name, count));
  }
  return obstacles;
}

}  // namespace strata
