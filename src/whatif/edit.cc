#include "whatif/edit.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/near_names.h"
#include "base/plural.h"
#include "convert/gpu_annotations.h"
#include "convert/specs.h"
#include "whatif/changes.h"
#include "whatif/edit_parts.h"

namespace strata {
namespace {

constexpr std::size_t kSimilarNames = 3;

bool IsOver(const objects::Pod& pod) {
  return pod.status.phase == objects::PodPhase::kSucceeded ||
         pod.status.phase == objects::PodPhase::kFailed;
}

// The node of that name, or those below the HyperNode of that name, ascending.
Result<std::vector<std::string>> NodesNamed(const std::string& name,
                                            const CompletedObjects& objects) {
  std::vector<std::string> known;
  for (const objects::Node& node : objects.objects.nodes) {
    if (node.meta.name == name) return std::vector<std::string>{name};
    known.push_back(node.meta.name);
  }
  for (const objects::HyperNode& one : objects.objects.hypernodes) known.push_back(one.meta.name);
  TRY_ASSIGN(const LoadedCluster cluster, LoadCompleted(objects));
  const HyperNodeTree& tree = cluster.state->tree();
  const auto found = tree.Find(name);
  if (!found || *found == tree.top()) return UnknownName("node or HyperNode", name, known);
  std::vector<std::string> nodes;
  for (const NodeId node : tree.NodesOf(*found)) {
    nodes.push_back(cluster.state->nodes().spec(node).name);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

void Cordon(const std::set<std::string>& nodes, objects::ObjectSet& objects) {
  for (objects::Node& node : objects.nodes) {
    if (nodes.contains(node.meta.name)) node.unschedulable = true;
  }
}

// A gang of which no pod has a node any more waits to be admitted again.
void PutBack(const std::set<std::string>& groups, objects::ObjectSet& objects) {
  std::set<std::string> placed;
  for (const objects::Pod& pod : objects.pods) {
    if (!pod.spec.node_name.empty()) placed.insert(GroupOf(pod));
  }
  for (objects::PodGroup& group : objects.pod_groups) {
    const std::string name = objects::NamespacedName(group.meta);
    if (groups.contains(name) && !placed.contains(name)) {
      group.phase = objects::PodGroupPhase::kPending;
    }
  }
}

// The number of pods that wait again.
std::size_t Release(const std::set<std::string>& nodes, CompletedObjects& objects) {
  std::size_t count = 0;
  std::set<std::string> groups;
  for (objects::Pod& pod : objects.objects.pods) {
    if (!nodes.contains(pod.spec.node_name) || IsOver(pod) || StaysWithItsNode(pod)) continue;
    if (!objects.takes(pod)) continue;
    ++count;
    groups.insert(GroupOf(pod));
    pod.spec.node_name.clear();
    pod.status.phase = objects::PodPhase::kPending;
    EraseGpuClaim(pod.meta.annotations);
  }
  PutBack(groups, objects.objects);
  return count;
}

Result<std::string> CordonOrDrain(const Edit& edit, CompletedObjects& objects) {
  TRY_ASSIGN(const std::vector<std::string> names, NodesNamed(edit.text, objects));
  const std::set<std::string> nodes(names.begin(), names.end());
  const bool alone = names.size() == 1 && names.front() == edit.text;
  const std::string what =
      alone ? edit.text : fmt::format("{} ({})", edit.text, Plural(nodes.size(), "node"));
  Cordon(nodes, objects.objects);
  if (edit.kind == Edit::Kind::kCordon) return what + " cordoned";
  const std::size_t pods = Release(nodes, objects);
  return fmt::format(
      "{} drained: {} {} again", what, Plural(pods, "pod"), pods == 1 ? "waits" : "wait");
}

// The PodGroup of a job that people name.
Result<std::string> GroupNamed(const std::string& job,
                               const std::string& ns,
                               const CompletedObjects& objects) {
  const std::string full = job.find('/') == std::string::npos ? ns + "/" + job : job;
  if (const auto it = objects.group_of_job.find(full); it != objects.group_of_job.end()) {
    return it->second;
  }
  if (FindGroup(objects.objects, full) != nullptr) return full;
  std::set<std::string> known;
  std::set<std::string> of_jobs;
  for (const auto& [name, group] : objects.group_of_job) {
    known.insert(name);
    of_jobs.insert(group);
  }
  for (const objects::PodGroup& group : objects.objects.pod_groups) {
    const std::string name = objects::NamespacedName(group.meta);
    if (!of_jobs.contains(name) && !objects.made_groups.contains(name)) known.insert(name);
  }
  return UnknownName("Job or PodGroup", full, {known.begin(), known.end()});
}

Result<std::string> Remove(const std::string& job,
                           const std::string& ns,
                           CompletedObjects& objects) {
  TRY_ASSIGN(const std::string group, GroupNamed(job, ns, objects));
  const std::size_t before = objects.objects.pods.size();
  RemoveGroup(objects.objects, group);
  const std::size_t pods = before - objects.objects.pods.size();
  std::string name = group;
  std::erase_if(objects.group_of_job, [&](const auto& entry) {
    if (entry.second != group) return false;
    name = entry.first;
    return true;
  });
  std::erase_if(objects.objects.jobs,
                [&](const objects::Job& one) { return objects::NamespacedName(one.meta) == name; });
  return fmt::format("{} removed: {} gone", name, Plural(pods, "pod"));
}

Result<std::string> Apply(const Edit& edit, const std::string& ns, CompletedObjects& objects) {
  switch (edit.kind) {
    case Edit::Kind::kAdd: {
      TRY_ASSIGN(const AddSpec spec, ParseAdd(edit.text));
      return AddNodes(spec, objects);
    }
    case Edit::Kind::kCordon:
    case Edit::Kind::kDrain:
      return CordonOrDrain(edit, objects);
    case Edit::Kind::kWithout:
      return Remove(edit.text, ns, objects);
    case Edit::Kind::kSet:
      return SetQueueField(edit.text, objects);
    case Edit::Kind::kScale: {
      TRY_ASSIGN(const ScaleSpec spec, ParseScale(edit.text));
      TRY_ASSIGN(const std::string group, GroupNamed(spec.job, ns, objects));
      return ScaleJob(spec, group, objects);
    }
  }
  return std::string();
}

}  // namespace

tl::unexpected<Error> UnknownName(std::string_view what,
                                  std::string_view name,
                                  const std::vector<std::string>& known) {
  if (known.empty()) {
    return Fail(Code::kNotFound, fmt::format("no {} of the name {}: there are none", what, name));
  }
  return Fail(Code::kNotFound,
              fmt::format("no {} of the name {}; similar names: {}",
                          what,
                          name,
                          fmt::join(NearNames(known, name, kSimilarNames), ", ")));
}

Status CheckEdit(const Edit& edit) {
  switch (edit.kind) {
    case Edit::Kind::kAdd:
      TRY(ParseAdd(edit.text));
      return {};
    case Edit::Kind::kScale:
      TRY(ParseScale(edit.text));
      return {};
    case Edit::Kind::kSet:
      return CheckSet(edit.text);
    case Edit::Kind::kCordon:
    case Edit::Kind::kDrain:
    case Edit::Kind::kWithout:
      break;
  }
  if (!edit.text.empty()) return {};
  return Fail(Code::kInvalidArgument, "want a name, found \"\"");
}

Result<std::vector<std::string>> ApplyEdits(std::span<const Edit> edits,
                                            const std::string& ns,
                                            CompletedObjects& objects) {
  std::vector<Edit> ordered(edits.begin(), edits.end());
  std::stable_sort(
      ordered.begin(), ordered.end(), [](const Edit& a, const Edit& b) { return a.kind < b.kind; });
  std::vector<std::string> lines;
  for (const Edit& edit : ordered) {
    TRY_ASSIGN(std::string line, Apply(edit, ns, objects));
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace strata
