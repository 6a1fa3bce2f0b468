#include "explain/facts.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/age.h"
#include "base/plural.h"
#include "convert/specs.h"
#include "explain/own_names.h"
#include "objects/expand_job.h"
#include "objects/volcano_keys.h"
#include "report/names.h"

namespace strata {
namespace {

using Pods = std::vector<const objects::Pod*>;

const objects::Job* FindJob(const CompletedObjects& objects, std::string_view name) {
  const auto& jobs = objects.objects.jobs;
  const auto it = std::find_if(jobs.begin(), jobs.end(), [&](const objects::Job& job) {
    return objects::NamespacedName(job.meta) == name;
  });
  return it == jobs.end() ? nullptr : &*it;
}

// A simulation makes up pods of Jobs; these have an origin.
bool Exists(const objects::Pod& pod) {
  return pod.meta.origin.empty();
}

Pods PodsOf(const CompletedObjects& objects, const Subject& subject) {
  const auto is_of = [&](const objects::Pod& pod) {
    if (subject.kind == "Pod") return objects::NamespacedName(pod.meta) == subject.name;
    const Controller controller = ControllerOf(pod.meta);
    return controller.kind == subject.kind && pod.meta.ns + "/" + controller.name == subject.name;
  };
  Pods pods;
  for (const objects::Pod& pod : objects.objects.pods) {
    if (is_of(pod)) pods.push_back(&pod);
  }
  return pods;
}

bool HasEnded(const objects::Pod& pod) {
  return pod.status.phase == objects::PodPhase::kSucceeded ||
         pod.status.phase == objects::PodPhase::kFailed;
}

// "s4 (tier 2)", the lowest HyperNode that holds the nodes of the pods; else their nodes: "node1".
// "" when none has a node.
std::string PlaceOf(const ClusterState& state, const Pods& pods) {
  const HyperNodeTree& tree = state.tree();
  std::set<std::string> nodes;
  HyperNodeId common;
  for (const objects::Pod* pod : pods) {
    if (pod->spec.node_name.empty()) continue;
    nodes.insert(pod->spec.node_name);
    const auto node = state.nodes().Find(pod->spec.node_name);
    common = tree.Lca(common, node ? tree.LeafOf(tree.ChainOf(*node)) : tree.top());
  }
  if (nodes.empty()) return "";
  if (!common.valid() || common == tree.top()) {
    return " on " + NameSome({nodes.begin(), nodes.end()});
  }
  return fmt::format(" in {} (tier {})", tree.at(common).name, tree.at(common).tier);
}

std::string_view EndOf(objects::JobPhase phase) {
  switch (phase) {
    case objects::JobPhase::kCompleted:
      return "completed";
    case objects::JobPhase::kFailed:
      return "failed";
    case objects::JobPhase::kTerminated:
      return "was terminated";
    case objects::JobPhase::kAborted:
      return "was suspended";
    case objects::JobPhase::kCompleting:
      return "is completing";
    case objects::JobPhase::kTerminating:
      return "is being terminated";
    case objects::JobPhase::kAborting:
      return "is being suspended";
    case objects::JobPhase::kPending:
    case objects::JobPhase::kRunning:
    case objects::JobPhase::kRestarting:
      break;
  }
  return "";
}

// "5m"; what lies in the future, by a clock that differs, is now.
std::string Age(Duration age) {
  return HumanDuration(std::max(age, Duration::zero()));
}

std::string TellEnd(const objects::Job& job,
                    const Subject& subject,
                    const std::string& place,
                    Time now) {
  const bool over = job.phase != objects::JobPhase::kCompleting &&
                    job.phase != objects::JobPhase::kTerminating &&
                    job.phase != objects::JobPhase::kAborting;
  std::string text = fmt::format("{} {}", subject.name, EndOf(job.phase));
  if (over && job.phase_since) text += fmt::format(" {} ago", Age(now - *job.phase_since));
  if (job.first_ran || !place.empty()) {
    text += "; it ran" + place;
    if (over && job.first_ran && job.phase_since) {
      text += " for " + Age(*job.phase_since - *job.first_ran);
    }
  }
  if (!job.phase_message.empty()) text += ": " + job.phase_message;
  if (!text.ends_with('.')) text += '.';
  if (job.phase == objects::JobPhase::kAborted) {
    text += fmt::format(" \"strata job resume {}\" starts it again.", subject.name);
  }
  return text;
}

Pods PodsOfJob(const CompletedObjects& objects, const objects::Job& job) {
  Pods pods;
  for (const objects::Pod& pod : objects.objects.pods) {
    const std::string* label = objects::Find(pod.meta.labels, objects::kJobNameKey);
    if (pod.meta.ns == job.meta.ns && label != nullptr && *label == job.meta.name) {
      pods.push_back(&pod);
    }
  }
  return pods;
}

std::string TellOtherScheduler(const Subject& subject, const Pods& pods) {
  std::set<std::string> schedulers;
  for (const objects::Pod* pod : pods) schedulers.insert(pod->spec.scheduler_name);
  return fmt::format("{} {} is left to another scheduler: schedulerName is {} (served here: {}).",
                     subject.kind,
                     subject.name,
                     fmt::join(schedulers, ", "),
                     fmt::join(objects::kUsualSchedulers, ", "));
}

}  // namespace

const objects::Job* JobOfGroup(const CompletedObjects& objects, const std::string& group) {
  for (const auto& [job, its_group] : objects.group_of_job) {
    if (its_group == group) return FindJob(objects, job);
  }
  return nullptr;
}

Reality FindReality(const CompletedObjects& objects, const std::string& group) {
  Reality reality;
  for (const objects::Pod& pod : objects.objects.pods) {
    if (GroupOf(pod) != group || !Exists(pod)) continue;
    ++reality.exist;
    if (pod.spec.node_name.empty()) continue;
    ++reality.placed;
    if (HasEnded(pod)) ++reality.ended;
  }
  reality.phase = ToString(objects::PodGroupPhase::kPending);
  for (const objects::PodGroup& known : objects.objects.pod_groups) {
    if (objects::NamespacedName(known.meta) != group) continue;
    reality.wanted = reality.needed = static_cast<std::size_t>(std::max(known.min_member, 0));
    if (known.meta.origin.empty()) reality.phase = ToString(known.phase);
  }
  const objects::Job* job = JobOfGroup(objects, group);
  if (job != nullptr) {
    reality.wanted = 0;
    for (const objects::JobTask& task : job->tasks) {
      reality.wanted += static_cast<std::size_t>(task.replicas);
    }
  }
  reality.wanted = std::max(reality.wanted, reality.exist);
  return reality;
}

std::optional<Told> TellWithoutRun(const CompletedObjects& objects,
                                   const ClusterState& state,
                                   const Subject& subject,
                                   Time now) {
  if (subject.kind == "Job") {
    const objects::Job* job = FindJob(objects, subject.name);
    if (job == nullptr || !objects::MakesNoPods(job->phase)) return std::nullopt;
    return Told{std::string(ToString(job->phase)),
                TellEnd(*job, subject, PlaceOf(state, PodsOfJob(objects, *job)), now)};
  }
  if (subject.kind == "PodGroup") return std::nullopt;
  const Pods pods = PodsOf(objects, subject);
  const bool ended = !pods.empty() && std::all_of(pods.begin(), pods.end(), [](const auto* pod) {
    return HasEnded(*pod);
  });
  if (ended) {
    const bool failed = std::any_of(pods.begin(), pods.end(), [](const auto* pod) {
      return pod->status.phase == objects::PodPhase::kFailed;
    });
    const std::string place = PlaceOf(state, pods);
    return Told{failed ? "Failed" : "Succeeded",
                fmt::format("{} {} {}{}.",
                            subject.kind,
                            subject.name,
                            failed ? "failed" : "succeeded",
                            place.empty() ? "" : "; it ran" + place)};
  }
  if (subject.groups.empty()) return Told{"", TellOtherScheduler(subject, pods)};
  return std::nullopt;
}

std::string TellSubject(const CompletedObjects& objects, const Subject& subject) {
  if (subject.kind == "Job" || subject.kind == "PodGroup" || subject.groups.empty()) return "";
  const OwnNames names(objects);
  const std::string& own = names.Of(subject.groups.front());
  const Pods pods = PodsOf(objects, subject);
  const bool alone = own == subject.name;  // nothing else is explained below
  if (subject.kind == "Pod") {
    const std::string& node = pods.front()->spec.node_name;
    return fmt::format("Pod {}{} {}.",
                       subject.name,
                       alone ? "" : " belongs to " + own + " and",
                       node.empty() ? "has no node" : "is on " + node);
  }
  const auto waiting = static_cast<std::size_t>(std::count_if(
      pods.begin(), pods.end(), [](const auto* pod) { return pod->spec.node_name.empty(); }));
  std::string text =
      fmt::format("{} {} has {}", subject.kind, subject.name, Plural(pods.size(), "pod"));
  text += waiting == 0 ? ", all with a node."
                       : fmt::format(": {} no node.",
                                     waiting == 1 ? "1 has" : fmt::format("{} have", waiting));
  if (subject.groups.size() > 1) {
    text += fmt::format(
        " Explained is the first of {}: {}.", Plural(subject.groups.size(), "PodGroup"), own);
  }
  return text;
}

}  // namespace strata
