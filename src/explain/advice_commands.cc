#include "explain/advice_commands.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "convert/specs.h"
#include "explain/own_names.h"
#include "json/dump.h"
#include "objects/volcano_keys.h"
#include "objects/write_parts.h"
#include "whatif/changes.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPlainCharacters = "@%+=:,./_-";

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         kPlainCharacters.find(c) != std::string_view::npos;
}

// "ns/name" as the arguments of kubectl: "train -n default".
std::string NameAndNamespace(const std::string& name) {
  const std::size_t slash = name.find('/');
  return fmt::format(
      "{} -n {}", ShellWord(name.substr(slash + 1)), ShellWord(name.substr(0, slash)));
}

std::string MergePatch(std::string_view what, const Json& patch) {
  return fmt::format("kubectl patch {} --type=merge -p {}", what, ShellWord(DumpJson(patch)));
}

std::string JsonPatch(std::string_view what, const std::vector<PatchStep>& steps) {
  Json patch = Json::array();
  for (const PatchStep& step : steps) {
    const bool adds = step.op == PatchStep::Op::kAdd;
    Json one = {{"op", adds ? "add" : "remove"}, {"path", step.path}};
    if (adds) one["value"] = Json::parse(step.value);
    patch.push_back(std::move(one));
  }
  return fmt::format("kubectl patch {} --type=json -p {}", what, ShellWord(DumpJson(patch)));
}

// The command prints the changed object, which takes the place of the old one.
std::string Replacing(const std::string& patch) {
  return patch + " --dry-run=client -o yaml | kubectl replace --force -f -";
}

std::vector<PatchStep> Below(const std::string& prefix, std::vector<PatchStep> steps) {
  for (PatchStep& step : steps) step.path.insert(0, prefix);
  return steps;
}

// How kubectl takes pods away from a controller that makes them anew; "" where it cannot.
std::string ScaleToZero(const Controller& controller, const std::string& ns) {
  const std::string name = NameAndNamespace(ns + "/" + controller.name);
  if (controller.kind == "Deployment" || controller.kind == "StatefulSet" ||
      controller.kind == "ReplicaSet") {
    return fmt::format("kubectl scale {} {} --replicas=0",
                       controller.kind == "Deployment"    ? "deployment"
                       : controller.kind == "StatefulSet" ? "statefulset"
                                                          : "replicaset",
                       name);
  }
  if (controller.kind == "Job") {
    return MergePatch("jobs.v1.batch " + name, {{"spec", {{"suspend", true}}}});
  }
  return "";
}

AdviceCommand EndPods(const std::vector<const objects::Pod*>& pods) {
  std::set<std::string> lines;
  std::vector<std::string> alone;
  for (const objects::Pod* pod : pods) {
    const Controller controller = ControllerOf(pod->meta);
    if (controller.kind.empty()) {
      alone.push_back(ShellWord(pod->meta.name));
      continue;
    }
    const std::string line = ScaleToZero(controller, pod->meta.ns);
    if (line.empty()) return {};
    lines.insert(line);
  }
  if (!alone.empty()) {
    lines.insert(fmt::format(
        "kubectl delete pod {} -n {}", fmt::join(alone, " "), ShellWord(pods.front()->meta.ns)));
  }
  return {fmt::format("{}", fmt::join(lines, " && "))};
}

// "ns/job" of the Job that the PodGroup is kept by; "" if there is none.
std::string KeeperOf(const CompletedObjects& objects, const objects::PodGroup& group) {
  const std::string name = objects::NamespacedName(group.meta);
  for (const auto& [job, its_group] : objects.group_of_job) {
    // A PodGroup that came with the input is what counts, unless a controller would put it right.
    if (its_group == name && group.meta.source.empty()) return job;
  }
  for (const objects::OwnerReference& owner : group.meta.owners) {
    const bool is_job = owner.kind == "Job" && owner.api_version.starts_with("batch.volcano.sh/");
    if (owner.controller && is_job) return group.meta.ns + "/" + owner.name;
  }
  return "";
}

}  // namespace

std::string ShellWord(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), IsPlain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) c == '\'' ? word += "'\\''" : word += c;
  return word + "'";
}

std::string PointerPart(std::string_view name) {
  std::string part;
  for (const char c : name) {
    if (c == '~') {
      part += "~0";
    } else if (c == '/') {
      part += "~1";
    } else {
      part += c;
    }
  }
  return part;
}

AdviceCommand UncordonCommand(const std::vector<std::string>& nodes) {
  std::string line = "kubectl uncordon";
  for (const std::string& node : nodes) line += " " + ShellWord(node);
  return {line};
}

AdviceCommand OpenQueueCommand(const std::string& queue) {
  return {"strata queue open " + ShellWord(queue)};
}

AdviceCommand CapabilityCommand(const std::string& queue,
                                const std::string& resource,
                                const Quantity& amount) {
  return {MergePatch("queue " + ShellWord(queue),
                     {{"spec", {{"capability", {{resource, amount.ToString()}}}}}})};
}

AdviceCommand WeightCommand(const std::string& queue, std::int64_t weight) {
  return {MergePatch("queue " + ShellWord(queue), {{"spec", {{"weight", weight}}}})};
}

AdviceCommand QuotaCommand(const std::string& quota,
                           const std::string& resource,
                           const Quantity& amount) {
  return {MergePatch("resourcequota " + NameAndNamespace(quota),
                     {{"spec", {{"hard", {{resource, amount.ToString()}}}}}})};
}

AdviceCommand ActionsCommand(const std::string& actions) {
  // In the ConfigMap as kubectl prints it, the quotation mark may be escaped.
  const std::string edit = R"(s/(actions: *\\?")[^"\\]*/\1)" + actions + "/";
  return {fmt::format(
      "kubectl get configmap volcano-scheduler-configmap -n volcano-system -o yaml | sed -E {} | "
      "kubectl replace -f -",
      ShellWord(edit))};
}

AdviceCommand EndCommand(const CompletedObjects& objects, const Holder& holder) {
  const bool one = holder.kind == Holder::Kind::kPod;
  if (const auto* group = one ? nullptr : FindGroup(objects.objects, holder.name)) {
    const std::string job = KeeperOf(objects, *group);
    if (!job.empty()) return {"strata job suspend " + ShellWord(job)};
  }
  std::vector<const objects::Pod*> pods;
  for (const objects::Pod& pod : objects.objects.pods) {
    if ((one ? objects::NamespacedName(pod.meta) : GroupOf(pod)) == holder.name) {
      pods.push_back(&pod);
    }
  }
  return pods.empty() ? AdviceCommand{} : EndPods(pods);
}

JobCommands::JobCommands(const CompletedObjects& objects, const std::string& group)
    : objects_(objects),
      group_(*FindGroup(objects.objects, group)),
      job_name_(KeeperOf(objects, group_)),
      waiting_(WaitingPodsOf(objects.objects, group)) {
  for (const objects::Job& job : objects.objects.jobs) {
    if (objects::NamespacedName(job.meta) == job_name_) job_ = &job;
  }
}

std::string JobCommands::Object() const {
  return of_job() ? "Job " + job_name_ : objects::ObjectName(group_.meta);
}

AdviceCommand JobCommands::ChangePods(const EditPod& edit, Pods pods) const {
  if (of_job()) {
    if (job_ == nullptr) return {};
    std::vector<PatchStep> steps;
    for (std::size_t i = 0; i < job_->tasks.size(); ++i) {
      const std::vector<PatchStep> of_task = Below(fmt::format("/spec/tasks/{}/template/spec", i),
                                                   edit(job_->tasks[i].pod_template.spec));
      steps.insert(steps.end(), of_task.begin(), of_task.end());
    }
    return ReplaceJob(steps);
  }
  std::set<std::pair<std::string, std::string>> controllers;
  for (const objects::Pod* pod : waiting_) {
    const Controller controller = ControllerOf(pod->meta);
    controllers.emplace(controller.kind, controller.name);
  }
  if (controllers.size() != 1) return {};
  const auto& [kind, name] = *controllers.begin();
  return kind.empty() ? ChangeEachPod(edit, pods) : ChangeTemplate(kind, name, edit);
}

AdviceCommand JobCommands::ChangeTemplate(std::string_view kind,
                                          const std::string& name,
                                          const EditPod& edit) const {
  static constexpr std::pair<std::string_view, std::string_view> kTemplates[] = {
      {"Deployment", "deployment"}, {"StatefulSet", "statefulset"}, {"DaemonSet", "daemonset"}};
  const auto* const known = std::find_if(std::begin(kTemplates),
                                         std::end(kTemplates),
                                         [&](const auto& one) { return one.first == kind; });
  if (known == std::end(kTemplates)) return {};
  objects::PodSpec spec = waiting_.front()->spec;
  // The API server gives these to every pod.
  std::erase_if(spec.tolerations, [](const Toleration& toleration) {
    return IsUnready({.key = toleration.key, .value = "", .effect = TaintEffect::kNoExecute}) &&
           toleration.effect == TaintEffect::kNoExecute;
  });
  const std::vector<PatchStep> steps = Below("/spec/template/spec", edit(spec));
  if (steps.empty()) return {};
  const std::string what =
      fmt::format("{} {}", known->second, NameAndNamespace(group_.meta.ns + "/" + name));
  return {JsonPatch(what, steps), true};
}

AdviceCommand JobCommands::ChangeEachPod(const EditPod& edit, Pods pods) const {
  std::vector<std::string> lines;
  for (const objects::Pod* pod : waiting_) {
    const std::vector<PatchStep> steps = Below("/spec", edit(pod->spec));
    if (steps.empty()) continue;
    const std::string patch =
        JsonPatch("pod " + NameAndNamespace(objects::NamespacedName(pod->meta)), steps);
    lines.push_back(pods == Pods::kMayChange ? patch : Replacing(patch));
  }
  if (lines.empty()) return {};
  return {fmt::format("{}", fmt::join(lines, " && ")), pods == Pods::kAreFixed};
}

AdviceCommand JobCommands::RemoveGates() const {
  const Json patch = {{"spec", {{"schedulingGates", nullptr}}}};
  const std::string ns = ShellWord(group_.meta.ns);
  if (of_job()) {
    const std::string label =
        fmt::format("{}={}", objects::kJobNameKey, job_name_.substr(job_name_.find('/') + 1));
    return {fmt::format("kubectl get pods -n {} -l {} -o name | xargs {}",
                        ns,
                        ShellWord(label),
                        MergePatch("-n " + ns, patch))};
  }
  std::vector<std::string> names;
  for (const objects::Pod* pod : waiting_) {
    if (!pod->spec.scheduling_gates.empty()) names.push_back(ShellWord(pod->meta.name));
  }
  return {MergePatch(fmt::format("pod {} -n {}", fmt::join(names, " "), ns), patch)};
}

AdviceCommand JobCommands::SetScheduler(const std::string& from, const std::string& to) const {
  const auto edit = [&](const objects::PodSpec& spec) -> std::vector<PatchStep> {
    if (spec.scheduler_name != from) return {};
    return {{PatchStep::Op::kAdd, "/schedulerName", DumpJson(Json(to))}};
  };
  if (!of_job() || job_ == nullptr || job_->scheduler_name != from) {
    return ChangePods(edit, Pods::kAreFixed);
  }
  return ReplaceJob({{PatchStep::Op::kAdd, "/spec/schedulerName", DumpJson(Json(to))}});
}

AdviceCommand JobCommands::SetTopology(std::optional<std::size_t> policy,
                                       const objects::NetworkTopology& topology) const {
  const std::string value = DumpJson(objects::WriteTopology(topology));
  if (!of_job()) {
    const std::string where = policy
                                  ? fmt::format("/spec/subGroupPolicy/{}/networkTopology", *policy)
                                  : "/spec/networkTopology";
    return PatchGroup({{PatchStep::Op::kAdd, where, value}});
  }
  if (!policy) return ReplaceJob({{PatchStep::Op::kAdd, "/spec/networkTopology", value}});
  const std::string task = TaskOf(*policy);
  if (task.empty()) return {};
  return ReplaceJob({{PatchStep::Op::kAdd, task + "partitionPolicy/networkTopology", value}});
}

AdviceCommand JobCommands::SetMinimum(std::int64_t count) const {
  if (of_job()) {
    return {
        MergePatch("vcjob " + NameAndNamespace(job_name_), {{"spec", {{"minAvailable", count}}}})};
  }
  objects::ObjectSet alone = GroupAlone();
  SetMinMember(alone, objects::NamespacedName(group_.meta), static_cast<std::int32_t>(count));
  return PatchGroup(MinimumSteps(alone.pod_groups.front()));
}

AdviceCommand JobCommands::SetMinSubGroups(std::size_t policy, std::int64_t count) const {
  objects::ObjectSet alone = GroupAlone();
  strata::SetMinSubGroups(
      alone, objects::NamespacedName(group_.meta), policy, static_cast<std::int32_t>(count));
  const objects::PodGroup& changed = alone.pod_groups.front();
  if (!of_job()) {
    std::vector<PatchStep> steps = MinimumSteps(changed);
    steps.push_back({PatchStep::Op::kAdd,
                     fmt::format("/spec/subGroupPolicy/{}/minSubGroups", policy),
                     std::to_string(count)});
    return PatchGroup(steps);
  }
  const std::string task = TaskOf(policy);
  if (task.empty()) return {};
  const std::int64_t pods = count * changed.sub_groups[policy].sub_group_size;
  return ReplaceJob(
      {{PatchStep::Op::kAdd, task + "partitionPolicy/minPartitions", std::to_string(count)},
       {PatchStep::Op::kAdd, task + "minAvailable", std::to_string(pods)},
       {PatchStep::Op::kAdd, "/spec/minAvailable", std::to_string(changed.min_member)}});
}

std::string JobCommands::TaskOf(std::size_t policy) const {
  if (job_ == nullptr) return "";
  const std::string& name = group_.sub_groups[policy].name;
  for (std::size_t i = 0; i < job_->tasks.size(); ++i) {
    if (job_->tasks[i].name == name) return fmt::format("/spec/tasks/{}/", i);
  }
  return "";
}

AdviceCommand JobCommands::ReplaceJob(const std::vector<PatchStep>& steps) const {
  if (steps.empty()) return {};
  return {Replacing(JsonPatch("vcjob " + NameAndNamespace(job_name_), steps)), true};
}

AdviceCommand JobCommands::PatchGroup(const std::vector<PatchStep>& steps) const {
  const std::string name = objects::NamespacedName(group_.meta);
  return {JsonPatch("podgroup " + NameAndNamespace(name), steps)};
}

std::vector<PatchStep> JobCommands::MinimumSteps(const objects::PodGroup& changed) const {
  std::vector<PatchStep> steps = {
      {PatchStep::Op::kAdd, "/spec/minMember", std::to_string(changed.min_member)}};
  if (changed.min_resources) {
    objects::ResourceList amounts = *changed.min_resources;
    std::erase_if(amounts, [&](const auto& one) {
      return !group_.min_resources->contains(one.first);  // names of quotas
    });
    steps.push_back(
        {PatchStep::Op::kAdd, "/spec/minResources", DumpJson(objects::WriteResources(amounts))});
  }
  return steps;
}

objects::ObjectSet JobCommands::GroupAlone() const {
  objects::ObjectSet alone;
  alone.pod_groups = {group_};
  const std::string name = objects::NamespacedName(group_.meta);
  for (const objects::Pod& pod : objects_.objects.pods) {
    if (GroupOf(pod) == name) alone.pods.push_back(pod);
  }
  return alone;
}

}  // namespace strata
