#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "convert/gpu_annotations.h"
#include "convert/specs.h"
#include "objects/sort_by_name.h"
#include "objects/volcano_keys.h"
#include "whatif/changes.h"
#include "whatif/edit_parts.h"

namespace strata {
namespace {

constexpr std::string_view kScaleShape = "JOB[:TASK]=N, as in ml/train=16 or ml/train:worker=16";

std::string TaskOf(const objects::Pod& pod) {
  const std::string* task = objects::Find(pod.meta.labels, objects::kTaskSpecKey);
  if (task == nullptr) task = objects::Find(pod.meta.annotations, objects::kTaskSpecKey);
  return task == nullptr ? "" : *task;
}

// "train-worker-" and 12 of "train-worker-12"; none without a number at the end.
struct Numbered {
  std::string stem;
  std::int64_t number = 0;
};
Numbered SplitName(const std::string& name) {
  std::size_t at = name.size();
  while (at > 0 && IsDigit(name[at - 1])) --at;
  const auto number =
      WholeNumber(std::string_view(name).substr(at), std::numeric_limits<std::int32_t>::max());
  if (!number) return {name + "-", -1};
  return {name.substr(0, at), *number};
}

bool LowerNumber(const objects::Pod* a, const objects::Pod* b) {
  const Numbered left = SplitName(a->meta.name);
  const Numbered right = SplitName(b->meta.name);
  return std::tie(left.stem, left.number) < std::tie(right.stem, right.number);
}

// A pod like `pod` that nobody has placed yet.
objects::Pod CopyOf(const objects::Pod& pod, const std::string& stem, std::int64_t number) {
  objects::Pod copy = pod;
  copy.meta.name = fmt::format("{}{}", stem, number);
  copy.meta.uid = copy.meta.name;
  copy.meta.deleted.reset();
  for (Labels* keys : {&copy.meta.labels, &copy.meta.annotations}) {
    const auto it = keys->find(std::string(objects::kTaskIndexKey));
    if (it != keys->end()) it->second = std::to_string(number);
  }
  copy.spec.node_name.clear();
  copy.status = {};
  EraseGpuClaim(copy.meta.annotations);
  return copy;
}

// Makes the pods of the task `count`; those of the highest numbers go.
void ScalePods(std::vector<const objects::Pod*> pods,
               std::size_t count,
               objects::ObjectSet& objects) {
  std::sort(pods.begin(), pods.end(), LowerNumber);
  std::set<std::string> gone;
  for (std::size_t i = count; i < pods.size(); ++i) {
    gone.insert(objects::NamespacedName(pods[i]->meta));
  }
  std::vector<objects::Pod> added;
  const Numbered last = SplitName(pods.back()->meta.name);
  for (std::size_t i = pods.size(); i < count; ++i) {
    const auto next = static_cast<std::int64_t>(i - pods.size()) + 1;
    added.push_back(CopyOf(*pods.back(), last.stem, last.number + next));
  }
  std::erase_if(objects.pods, [&](const objects::Pod& pod) {
    return gone.contains(objects::NamespacedName(pod.meta));
  });
  for (objects::Pod& pod : added) objects.pods.push_back(std::move(pod));
  objects::SortByName(objects.pods);
}

// A minimum that was all pods is all pods again.
std::int32_t NewMinimum(std::int32_t minimum, std::size_t before, std::int32_t after) {
  return minimum == static_cast<std::int32_t>(before) ? after : std::min(minimum, after);
}

std::vector<const objects::Pod*> PodsOf(const objects::ObjectSet& objects, std::string_view group) {
  std::vector<const objects::Pod*> pods;
  for (const objects::Pod& pod : objects.pods) {
    if (GroupOf(pod) == group) pods.push_back(&pod);
  }
  return pods;
}

}  // namespace

Result<ScaleSpec> ParseScale(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  std::int64_t count = 0;
  if (equals != std::string_view::npos) {
    count = WholeNumber(text.substr(equals + 1), 1'000'000).value_or(0);
  }
  const std::string_view name = text.substr(0, equals);
  const std::size_t colon = name.find(':');
  if (count == 0 || name.empty() || colon == 0 || colon + 1 == name.size()) {
    return Fail(Code::kInvalidArgument, fmt::format("\"{}\": want {}", text, kScaleShape));
  }
  ScaleSpec spec;
  spec.job = name.substr(0, colon);
  if (colon != std::string_view::npos) spec.task = name.substr(colon + 1);
  spec.count = static_cast<std::int32_t>(count);
  return spec;
}

Result<std::string> ScaleJob(const ScaleSpec& spec,
                             const std::string& group,
                             CompletedObjects& objects) {
  const objects::PodGroup* found = FindGroup(objects.objects, group);
  std::vector<const objects::Pod*> pods = PodsOf(objects.objects, group);
  if (found == nullptr || pods.empty()) {
    return Fail(Code::kNotFound, fmt::format("{} has no pods that could be copied", spec.job));
  }
  if (!found->sub_groups.empty()) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{} has sub-groups and cannot be scaled here; change its manifest", spec.job));
  }
  const std::size_t all = pods.size();
  std::set<std::string> tasks;
  for (const objects::Pod* pod : pods) tasks.insert(TaskOf(*pod));
  if (spec.task.empty() && tasks.size() > 1) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} has the tasks {}: want {}:TASK={}",
                            spec.job,
                            fmt::join(tasks, ", "),
                            spec.job,
                            spec.count));
  }
  if (!spec.task.empty() && !tasks.contains(spec.task)) {
    return UnknownName(
        fmt::format("task of {}", spec.job), spec.task, {tasks.begin(), tasks.end()});
  }
  const std::string task = spec.task.empty() ? *tasks.begin() : spec.task;
  std::erase_if(pods, [&](const objects::Pod* pod) { return TaskOf(*pod) != task; });
  const std::size_t before = pods.size();
  const auto total = static_cast<std::int32_t>(all - before) + spec.count;
  const std::int32_t minimum = NewMinimum(found->min_member, all, total);
  ScalePods(std::move(pods), static_cast<std::size_t>(spec.count), objects.objects);
  for (objects::PodGroup& one : objects.objects.pod_groups) {
    const auto of_task = one.min_task_member.find(task);
    if (objects::NamespacedName(one.meta) != group || of_task == one.min_task_member.end()) {
      continue;
    }
    of_task->second = NewMinimum(of_task->second, before, spec.count);
  }
  SetMinMember(objects.objects, group, minimum);
  return fmt::format("{}{} scaled from {} to {} pods (minimum {})",
                     spec.job,
                     spec.task.empty() ? "" : ":" + spec.task,
                     before,
                     spec.count,
                     minimum);
}

}  // namespace strata
