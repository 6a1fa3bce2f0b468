#include "explain/relaxations.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/plural.h"
#include "explain/own_names.h"
#include "explain/pod_patch.h"
#include "explain/relax_by_eviction.h"
#include "explain/relax_limits.h"
#include "explain/resolver.h"
#include "report/text.h"
#include "whatif/changes.h"

namespace strata {
namespace {

using Kind = Relaxation::Kind;

constexpr std::size_t kMaxTaints = 16;
constexpr std::size_t kMaxSingleNodes = 8;
constexpr std::size_t kShownNodes = 3;

std::string NameNodes(const std::vector<std::string>& nodes) {
  const auto shown =
      nodes.begin() + static_cast<std::ptrdiff_t>(std::min(nodes.size(), kShownNodes));
  std::string text = fmt::format("{}", fmt::join(nodes.begin(), shown, ", "));
  if (nodes.size() > kShownNodes) text += fmt::format(" and {} more", nodes.size() - kShownNodes);
  return text;
}

std::string_view EffectName(TaintEffect effect) {
  return effect == TaintEffect::kNoExecute ? "NoExecute" : "NoSchedule";
}

std::string TaintText(const Taint& taint) {
  return fmt::format("{}{}{}:{}",
                     taint.key,
                     taint.value.empty() ? "" : "=",
                     taint.value,
                     EffectName(taint.effect));
}

// The relaxations of the job's own pods and of the nodes.
class PodRelaxations {
 public:
  PodRelaxations(const RelaxationQuery& query, Resolver& resolver, std::vector<Relaxation>& found)
      : query_(query),
        objects_(query.objects->objects),
        resolver_(resolver),
        found_(found),
        commands_(*query.objects, query.job),
        waiting_(WaitingPodsOf(objects_, query.job)) {}

  void TryGates() {
    const auto gated = std::count_if(waiting_.begin(), waiting_.end(), [](const auto* pod) {
      return !pod->spec.scheduling_gates.empty();
    });
    if (gated == 0) return;
    Try({.kind = Kind::kUngate,
         .object = Group(),
         .field = "pods: spec.schedulingGates",
         .from = Plural(static_cast<std::size_t>(gated), "pod"),
         .to = "",
         .nodes = {},
         .size = gated,
         .text = fmt::format("remove the scheduling gates of its {}",
                             gated == 1 ? "pod" : fmt::format("{} pods", gated)),
         .command = commands_.RemoveGates()},
        [&](auto& objects) { RemoveGates(objects, query_.job); });
  }

  void TryNodes() {
    std::vector<std::string> cordoned;
    std::vector<std::string> unready;
    for (const objects::Node& node : objects_.nodes) {
      const objects::Condition* ready = objects::FindCondition(node.conditions, "Ready");
      if (node.unschedulable || std::any_of(node.taints.begin(), node.taints.end(), IsCordon)) {
        cordoned.push_back(node.meta.name);
      }
      if ((ready != nullptr && ready->status != "True") ||
          std::any_of(node.taints.begin(), node.taints.end(), IsUnready)) {
        unready.push_back(node.meta.name);
      }
    }
    TryNodes(Kind::kUncordon, cordoned, Uncordon);
    TryNodes(Kind::kReady, unready, MakeReady);
  }

  void TryTaints() {
    std::set<Taint> taints;
    for (const objects::Node& node : objects_.nodes) {
      for (const Taint& taint : node.taints) {
        if (taint.effect == TaintEffect::kPreferNoSchedule || IsCordon(taint) || IsUnready(taint)) {
          continue;
        }
        const bool in_the_way = std::any_of(waiting_.begin(), waiting_.end(), [&](const auto* pod) {
          return FirstUntolerated({taint}, pod->spec.tolerations) != nullptr;
        });
        if (in_the_way) taints.insert(taint);
      }
    }
    std::size_t tried = 0;
    for (const Taint& taint : taints) {
      if (++tried > kMaxTaints) break;
      Try({.kind = Kind::kTolerate,
           .object = Group(),
           .field = "pods: spec.tolerations",
           .from = "",
           .to = TaintText(taint),
           .nodes = {},
           .size = 1,
           .text = fmt::format("tolerate the taint {}", TaintText(taint)),
           .command =
               commands_.ChangePods([&](const auto& spec) { return ToleratingSteps(taint, spec); },
                                    JobCommands::Pods::kMayChange)},
          [&](auto& objects) { Tolerate(objects, query_.job, taint); });
    }
  }

  void TryTerms() {
    std::set<std::pair<std::string, std::string>> selectors;
    std::set<Requirement> requirements;
    std::set<objects::PodAffinityTerm> together;
    std::set<objects::PodAffinityTerm> apart;
    std::set<objects::TopologySpreadConstraint> spreads;
    for (const objects::Pod* pod : waiting_) {
      const objects::PodSpec& spec = pod->spec;
      selectors.insert(spec.node_selector.begin(), spec.node_selector.end());
      if (spec.node_affinity.required) {
        for (const NodeSelectorTerm& term : *spec.node_affinity.required) {
          requirements.insert(term.labels.begin(), term.labels.end());
          requirements.insert(term.fields.begin(), term.fields.end());
        }
      }
      together.insert(spec.pod_affinity.required.begin(), spec.pod_affinity.required.end());
      apart.insert(spec.pod_anti_affinity.required.begin(), spec.pod_anti_affinity.required.end());
      for (const objects::TopologySpreadConstraint& spread : spec.spread) {
        using When = objects::TopologySpreadConstraint::Unsatisfiable;
        if (spread.when_unsatisfiable == When::kDoNotSchedule) spreads.insert(spread);
      }
    }
    for (const auto& selector : selectors) {
      TryTerm(
          "pods: spec.nodeSelector",
          fmt::format("{}={}", selector.first, selector.second),
          [&](const auto& spec) { return WithoutSelectorSteps(selector.first, spec); },
          [&](auto& objects) { DropNodeSelector(objects, query_.job, selector.first); });
    }
    for (const Requirement& requirement : requirements) {
      TryTerm(
          "pods: spec.affinity.nodeAffinity",
          ToString(requirement),
          [&](const auto& spec) { return WithoutRequirementSteps(requirement, spec); },
          [&](auto& objects) { DropNodeRequirement(objects, query_.job, requirement); });
    }
    for (const auto& term : together) TryPodTerm(PodTermKind::kAffinity, term);
    for (const auto& term : apart) TryPodTerm(PodTermKind::kAntiAffinity, term);
    for (const auto& spread : spreads) {
      TryTerm(
          "pods: spec.topologySpreadConstraints",
          fmt::format("maxSkew {} over {}", spread.max_skew, spread.topology_key),
          [&](const auto& spec) { return WithoutEntrySteps(kSpreadPath, spread, spec.spread); },
          [&](auto& objects) { DropSpread(objects, query_.job, spread); });
    }
  }

  // Returns how many were tried.
  std::size_t TryHolders() {
    const OwnNames own(*query_.objects);
    std::size_t tried = 0;
    for (const Holder& holder : query_.holders) {
      if (tried == kMaxHoldersTried) break;
      ++tried;
      const bool pod = holder.kind == Holder::Kind::kPod;
      const std::string object = (pod ? "Pod " : "PodGroup ") + holder.name;
      Try({.kind = Kind::kJobGone,
           .object = object,
           .field = "",
           .from = Plural(holder.pods, "pod"),
           .to = "",
           .nodes = {},
           .size = static_cast<std::int64_t>(holder.pods),
           .text =
               pod ? fmt::format("without pod {}", holder.name)
                   : fmt::format(
                         "without job {} ({})", own.Of(holder.name), Plural(holder.pods, "pod")),
           .command = EndCommand(*query_.objects, holder)},
          [&](auto& objects) {
            pod ? RemovePod(objects, holder.name) : RemoveGroup(objects, holder.name);
          });
    }
    return tried;
  }

 private:
  [[nodiscard]] std::string Group() const { return "PodGroup " + query_.job; }

  void Try(Relaxation relaxation, const Change& change) {
    if (resolver_.Places(relaxation.text, change)) {
      found_.push_back(resolver_.WithBinds(std::move(relaxation)));
    }
  }

  void TryTerm(std::string field,
               const std::string& term,
               const JobCommands::EditPod& edit,
               const Change& change) {
    const std::string name = field.substr(field.rfind('.') + 1);
    Try({.kind = Kind::kDropTerm,
         .object = Group(),
         .field = std::move(field),
         .from = term,
         .to = "",
         .nodes = {},
         .size = 1,
         .text = fmt::format("drop {} {}", name, term),
         .command = commands_.ChangePods(edit, JobCommands::Pods::kAreFixed)},
        change);
  }

  void TryPodTerm(PodTermKind kind, const objects::PodAffinityTerm& term) {
    TryTerm(
        kind == PodTermKind::kAffinity ? "pods: spec.affinity.podAffinity"
                                       : "pods: spec.affinity.podAntiAffinity",
        fmt::format(
            "{} over {}", term.selector ? ToString(*term.selector) : "<none>", term.topology_key),
        [&](const objects::PodSpec& spec) {
          return kind == PodTermKind::kAffinity
                     ? WithoutEntrySteps(kAffinityPath, term, spec.pod_affinity.required)
                     : WithoutEntrySteps(kAntiAffinityPath, term, spec.pod_anti_affinity.required);
        },
        [&](auto& objects) { DropPodTerm(objects, query_.job, kind, term); });
  }

  // One node if one does it; else as few of the first as do, in the order of their names.
  void TryNodes(Kind kind,
                const std::vector<std::string>& nodes,
                void (*change)(objects::ObjectSet&, const std::vector<std::string>&)) {
    if (nodes.empty()) return;
    const std::string what = kind == Kind::kUncordon ? "uncordoned" : "ready";
    const auto places = [&](const std::vector<std::string>& some) {
      return resolver_.Places(fmt::format("{} {}", Plural(some.size(), "node"), what),
                              [&](auto& objects) { change(objects, some); });
    };
    const auto first = [&](std::int64_t count) {
      return std::vector<std::string>(nodes.begin(), nodes.begin() + count);
    };
    if (!places(nodes)) return;
    for (std::size_t i = 0; i < std::min(nodes.size(), kMaxSingleNodes); ++i) {
      if (nodes.size() > 1 && !places({nodes[i]})) continue;
      return AddNodes(kind, {nodes[i]});
    }
    const std::int64_t count =
        Resolver::Nearest(1, static_cast<std::int64_t>(nodes.size()), [&](std::int64_t tried) {
          return places(first(tried));
        });
    AddNodes(kind, first(count));
  }

  void AddNodes(Kind kind, std::vector<std::string> nodes) {
    const std::string names = NameNodes(nodes);
    const std::string thing = nodes.size() == 1 ? "node " : fmt::format("{} nodes: ", nodes.size());
    const bool cordon = kind == Kind::kUncordon;
    Relaxation relaxation{.kind = kind,
                          .object = "Node " + nodes.front(),
                          .field = cordon ? "spec.unschedulable" : "status.conditions",
                          .from = cordon ? "true" : "not Ready",
                          .to = cordon ? "false" : "Ready",
                          .nodes = nodes,
                          .size = static_cast<std::int64_t>(nodes.size()),
                          .text = cordon ? fmt::format("uncordon {}{}", thing, names)
                                         : fmt::format("with {}{} ready again", thing, names),
                          .command = cordon ? UncordonCommand(nodes) : AdviceCommand{}};
    found_.push_back(resolver_.WithBinds(std::move(relaxation)));
  }

  const RelaxationQuery& query_;
  const objects::ObjectSet& objects_;
  Resolver& resolver_;
  std::vector<Relaxation>& found_;
  JobCommands commands_;
  std::vector<const objects::Pod*> waiting_;
};

}  // namespace

std::string WithCommand(const Relaxation& relaxation) {
  if (relaxation.command.line.empty()) return relaxation.text;
  return fmt::format("{}{}: {}",
                     relaxation.text,
                     relaxation.command.restarts ? " (restarts the job)" : "",
                     relaxation.command.line);
}

std::string_view ToString(Relaxation::Kind kind) {
  switch (kind) {
    case Kind::kUngate:
      return "removeGates";
    case Kind::kOpenQueue:
      return "openQueue";
    case Kind::kUncordon:
      return "uncordon";
    case Kind::kReady:
      return "nodeReady";
    case Kind::kTolerate:
      return "tolerate";
    case Kind::kDropTerm:
      return "dropTerm";
    case Kind::kQueueLimit:
      return "queueLimit";
    case Kind::kQuotaLimit:
      return "quotaLimit";
    case Kind::kHigherTier:
      return "higherTier";
    case Kind::kFewerPods:
      return "fewerPods";
    case Kind::kEvict:
      return "evict";
    case Kind::kJobGone:
      return "jobGone";
  }
  return "";
}

RelaxationReport FindRelaxations(const RelaxationQuery& query) {
  RelaxationReport report;
  if (FindGroup(query.objects->objects, query.job) == nullptr) return report;
  Resolver resolver(query);
  PodRelaxations pods(query, resolver, report.found);
  pods.TryGates();
  pods.TryNodes();
  pods.TryTaints();
  pods.TryTerms();
  TryLimits(query, resolver, report.found);
  TryEvictions(query, resolver, report.found);
  report.holders_tried = pods.TryHolders();
  report.solved = resolver.solved();
  std::stable_sort(
      report.found.begin(), report.found.end(), [](const Relaxation& a, const Relaxation& b) {
        return std::tie(a.kind, a.size) < std::tie(b.kind, b.size);
      });
  return report;
}

}  // namespace strata
