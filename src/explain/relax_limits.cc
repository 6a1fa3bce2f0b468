#include "explain/relax_limits.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "convert/amounts.h"
#include "convert/load_cluster.h"
#include "convert/specs.h"
#include "model/gpu_amounts.h"
#include "objects/pod_request.h"
#include "whatif/changes.h"

namespace strata {
namespace {

using Kind = Relaxation::Kind;

constexpr std::int32_t kMaxWeight = 65535;

// What a name in the hard limits of a quota limits of GPUs; null when it is about something else.
const GpuPart* GpuPartOf(std::string_view name) {
  constexpr std::string_view kPrefix = "limits.";
  if (!name.starts_with(kPrefix)) return nullptr;
  name.remove_prefix(kPrefix.size());
  const auto* const it = std::find_if(kGpuParts.begin(), kGpuParts.end(), [&](const GpuPart& part) {
    return part.resource == name;
  });
  return it == kGpuParts.end() ? nullptr : it;
}

class Limits {
 public:
  Limits(const RelaxationQuery& query, Resolver& resolver, std::vector<Relaxation>& found)
      : query_(query),
        objects_(query.objects->objects),
        group_(*FindGroup(objects_, query.job)),
        commands_(*query.objects, query.job),
        resolver_(resolver),
        found_(found) {
    for (const objects::Pod* pod : WaitingPodsOf(objects_, query.job)) {
      for (const auto& [name, amount] : objects::QuotaUsage(*pod)) asked_[name] += amount;
    }
  }

  void TryQueues() {
    std::set<std::string> seen;
    for (const objects::Queue* queue =
             FindQueue(group_.queue.empty() ? kDefaultQueue : group_.queue);
         queue != nullptr && seen.insert(queue->meta.name).second;
         queue = FindQueue(queue->parent)) {
      const std::string& name = queue->meta.name;
      if (queue->state != objects::QueueState::kOpen) {
        Try({.kind = Kind::kOpenQueue,
             .object = "Queue " + name,
             .field = "status.state",
             .from = std::string(objects::ToString(queue->state)),
             .to = "Open",
             .nodes = {},
             .size = 1,
             .text = fmt::format("open queue {}", name),
             .command = OpenQueueCommand(name)},
            [&](auto& objects) { OpenQueue(objects, name); });
      }
      for (const auto& [resource, amount] : queue->capability) TryCapability(*queue, resource);
      TryWeight(*queue);
    }
  }

  void TryQuotas() {
    for (const objects::ResourceQuota& quota : objects_.quotas) {
      if (quota.meta.ns != group_.meta.ns) continue;
      for (const auto& [resource, hard] : quota.hard) TryHard(quota, resource, hard);
    }
  }

  void TryTiers() {
    TryTier(std::nullopt, group_.topology);
    for (std::size_t i = 0; i < group_.sub_groups.size(); ++i) {
      TryTier(i, group_.sub_groups[i].topology);
    }
  }

  void TryFewerPods() {
    bool by_sub_groups = false;
    for (std::size_t i = 0; i < group_.sub_groups.size(); ++i) {
      const objects::SubGroupPolicy& policy = group_.sub_groups[i];
      if (policy.min_sub_groups == 0) continue;
      by_sub_groups = true;
      TryMinimum(
          commands_.of_job()
              ? fmt::format("spec.tasks[{}].partitionPolicy.minPartitions", policy.name)
              : fmt::format("spec.subGroupPolicy[{}].minSubGroups", policy.name),
          "sub-group",
          {policy.min_sub_groups, policy.sub_group_size},
          [this, i](objects::ObjectSet& objects, std::int64_t count) {
            SetMinSubGroups(objects, query_.job, i, static_cast<std::int32_t>(count));
          },
          [this, i](std::int64_t count) { return commands_.SetMinSubGroups(i, count); });
    }
    if (by_sub_groups) return;
    TryMinimum(
        commands_.of_job() ? "spec.minAvailable" : "spec.minMember",
        "pod",
        {group_.min_member, 1},
        [this](objects::ObjectSet& objects, std::int64_t count) {
          SetMinMember(objects, query_.job, static_cast<std::int32_t>(count));
        },
        [this](std::int64_t count) { return commands_.SetMinimum(count); });
  }

 private:
  struct Minimum {
    std::int64_t now = 0;
    std::int64_t pods_each = 1;
  };

  [[nodiscard]] const objects::Queue* FindQueue(const std::string& name) const {
    const auto it = std::find_if(
        objects_.queues.begin(), objects_.queues.end(), [&](const objects::Queue& queue) {
          return queue.meta.name == name;
        });
    return it == objects_.queues.end() ? nullptr : &*it;
  }

  bool Try(Relaxation relaxation, const Change& change) {
    if (!resolver_.Places(relaxation.text, change)) return false;
    found_.push_back(resolver_.WithBinds(std::move(relaxation)));
    return true;
  }

  [[nodiscard]] Quantity Asked(std::string_view resource) const {
    const auto it = asked_.find(CountedName(resource).value_or(resource));
    return it == asked_.end() ? Quantity{} : it->second;
  }

  // What queues count the resource as.
  static std::string_view NameInQueues(std::string_view resource) {
    const std::string_view name = CountedName(resource).value_or(resource);
    return name == kVgpuResource ? kGpuResource : name;
  }
  [[nodiscard]] Quantity AskedOfQueue(std::string_view resource) const {
    const std::string_view name = NameInQueues(resource);
    Quantity asked = Asked(name);
    if (name == kGpuResource) asked += Asked(kVgpuResource);
    return asked;
  }

  // What the queue and the queues below it hold in the last solution.
  [[nodiscard]] Quantity HeldBelow(const std::string& top, const std::string& resource) const {
    const ClusterState& state = resolver_.last();
    const auto id = state.resource_names().Find(NameInQueues(resource));
    Amount held = 0;
    for (const QueueId queue : state.workload().queues()) {
      std::string at = state.workload().queue(queue).spec.name;
      for (std::size_t steps = 0;
           at != top && !at.empty() && steps <= state.workload().queues().size();
           ++steps) {
        const auto above = state.workload().FindQueue(at);
        at = above ? state.workload().queue(*above).spec.parent : "";
      }
      if (at == top && id) held += state.workload().queue(queue).allocated.Get(*id);
    }
    return ToQuantity(NameInQueues(resource), held);
  }

  // The first of these amounts that works; what the queue comes to hold is the least there can be.
  void TryCapability(const objects::Queue& queue, const std::string& resource) {
    const Quantity now = queue.capability.at(resource);
    const Quantity asked = AskedOfQueue(resource);
    const std::string& name = queue.meta.name;
    const auto set = [&](std::optional<Quantity> amount) {
      return [&name, &resource, amount](objects::ObjectSet& objects) {
        SetCapability(objects, name, resource, amount);
      };
    };
    if (asked.IsZero()) return;
    if (!resolver_.Places(fmt::format("queue {} without a limit of {}", name, resource),
                          set(std::nullopt))) {
      return;
    }
    const Quantity held = HeldBelow(name, resource);
    for (const Quantity& amount : {held, now + asked, held + asked}) {
      if (amount <= now) continue;
      if (Try(Raised(Kind::kQueueLimit,
                     "Queue " + name,
                     "spec.capability." + resource,
                     {now.ToString(), amount.ToString()},
                     CapabilityCommand(name, resource, amount)),
              set(amount))) {
        return;
      }
    }
  }

  void TryWeight(const objects::Queue& queue) {
    if (objects_.queues.size() < 2 || queue.weight >= kMaxWeight) return;
    const std::string& name = queue.meta.name;
    const auto places = [&](std::int64_t weight) {
      return resolver_.Places(
          fmt::format("queue {} with weight {}", name, weight),
          [&](auto& objects) { SetWeight(objects, name, static_cast<std::int32_t>(weight)); });
    };
    if (!places(kMaxWeight)) return;
    const std::int64_t weight = Resolver::Nearest(queue.weight, kMaxWeight, places);
    found_.push_back(
        resolver_.WithBinds(Raised(Kind::kQueueLimit,
                                   "Queue " + name,
                                   "spec.weight",
                                   {std::to_string(queue.weight), std::to_string(weight)},
                                   WeightCommand(name, weight))));
  }

  void TryHard(const objects::ResourceQuota& quota,
               const std::string& resource,
               const Quantity& hard) {
    const std::string name = objects::NamespacedName(quota.meta);
    const GpuPart* gpus = GpuPartOf(resource);
    const Quantity asked = Asked(gpus == nullptr ? resource : std::string(kGpuParts[0].resource));
    const auto set = [&](std::optional<Quantity> amount) {
      return [&name, &resource, amount](objects::ObjectSet& objects) {
        SetHard(objects, name, resource, amount);
      };
    };
    if (asked.IsZero()) return;
    if (!resolver_.Places(fmt::format("quota {} without a limit of {}", name, resource),
                          set(std::nullopt))) {
      return;
    }
    std::vector<Quantity> amounts = {Charged(name, resource), hard + asked};
    if (gpus != nullptr) {
      const GpuTotals held = resolver_.last().workload().GpusIn(quota.meta.ns);
      amounts = {Quantity::FromValue(held.*gpus->total)};
    }
    for (const Quantity& amount : amounts) {
      if (amount <= hard) continue;
      if (Try(Raised(Kind::kQuotaLimit,
                     "ResourceQuota " + name,
                     "spec.hard." + resource,
                     {hard.ToString(), amount.ToString()},
                     QuotaCommand(name, resource, amount)),
              set(amount))) {
        return;
      }
    }
  }

  // What the quota counts as used in the last solution.
  [[nodiscard]] Quantity Charged(const std::string& quota, const std::string& resource) const {
    const ClusterState& state = resolver_.last();
    const auto id = state.resource_names().Find(CountedName(resource).value_or(resource));
    for (const QuotaSpec* spec : state.quotas().Of(group_.meta.ns)) {
      if (spec->name == quota && id) {
        return ToQuantity(CountedName(resource).value_or(resource), spec->used.Get(*id));
      }
    }
    return {};
  }

  static Relaxation Raised(Kind kind,
                           std::string object,
                           std::string field,
                           std::pair<std::string, std::string> values,
                           AdviceCommand command) {
    Relaxation relaxation;
    relaxation.command = std::move(command);
    relaxation.kind = kind;
    relaxation.text =
        fmt::format("raise {} of {} from {} to {}", field, object, values.first, values.second);
    relaxation.object = std::move(object);
    relaxation.field = std::move(field);
    relaxation.from = std::move(values.first);
    relaxation.to = std::move(values.second);
    relaxation.size = 1;
    return relaxation;
  }

  [[nodiscard]] std::string TopologyFieldOf(std::size_t policy) const {
    const std::string& name = group_.sub_groups[policy].name;
    return commands_.of_job() ? fmt::format("spec.tasks[{}].partitionPolicy.networkTopology", name)
                              : fmt::format("spec.subGroupPolicy[{}].networkTopology", name);
  }

  static std::string TopologyText(const objects::NetworkTopology& topology) {
    if (topology.mode == objects::TopologyMode::kSoft) return "soft";
    if (!topology.highest_tier_name.empty()) return topology.highest_tier_name;
    return topology.highest_tier_allowed ? std::to_string(*topology.highest_tier_allowed) : "";
  }

  // The highest tier that the topology allows, -1 when it names one that is not there.
  [[nodiscard]] std::int32_t LimitOf(const objects::NetworkTopology& topology) const {
    const HyperNodeTree& tree = query_.state->tree();
    if (!topology.highest_tier_name.empty()) {
      return tree.TierOfName(topology.highest_tier_name).value_or(-1);
    }
    return topology.highest_tier_allowed.value_or(tree.at(tree.top()).tier - 1);
  }

  void TryTier(std::optional<std::size_t> policy,
               const std::optional<objects::NetworkTopology>& now) {
    if (!now || now->mode == objects::TopologyMode::kSoft) return;
    const HyperNodeTree& tree = query_.state->tree();
    const std::int32_t limit = LimitOf(*now);
    const std::string where = policy ? TopologyFieldOf(*policy) : "spec.networkTopology";
    std::int64_t steps = 0;
    for (const std::int32_t tier : tree.tiers()) {
      if (tier <= limit) continue;
      ++steps;
      objects::NetworkTopology raised;
      const bool top = tier == tree.at(tree.top()).tier;
      if (top) {
        raised.mode = objects::TopologyMode::kSoft;
      } else {
        raised.highest_tier_allowed = tier;
      }
      const std::string field = where + (top ? ".mode" : ".highestTierAllowed");
      const std::string from = top ? "hard" : TopologyText(*now);
      Relaxation relaxation{
          .kind = Kind::kHigherTier,
          .object = commands_.Object(),
          .field = field,
          .from = from,
          .to = TopologyText(raised),
          .nodes = {},
          .size = steps,
          .text = top ? fmt::format("let it span the whole cluster: {} soft", field)
                      : fmt::format("allow tier {}: {} {} instead of {}", tier, field, tier, from),
          .command = commands_.SetTopology(policy, raised)};
      if (Try(std::move(relaxation),
              [&](auto& objects) { SetTopology(objects, query_.job, policy, raised); })) {
        return;
      }
    }
  }

  void TryMinimum(const std::string& field,
                  std::string_view thing,
                  Minimum minimum,
                  const std::function<void(objects::ObjectSet&, std::int64_t)>& set,
                  const std::function<AdviceCommand(std::int64_t)>& command) {
    if (minimum.now <= 1) return;
    const auto text = [&](std::int64_t count) {
      return fmt::format("start with {} {}{} instead of {}: {} {}",
                         count,
                         thing,
                         count == 1 ? "" : "s",
                         minimum.now,
                         field,
                         count);
    };
    const auto places = [&](std::int64_t count) {
      return resolver_.Places(text(count), [&](auto& objects) { set(objects, count); });
    };
    if (!places(1)) return;
    const std::int64_t count = Resolver::Nearest(minimum.now, 1, places);
    Relaxation relaxation{.kind = Kind::kFewerPods,
                          .object = commands_.Object(),
                          .field = field,
                          .from = std::to_string(minimum.now),
                          .to = std::to_string(count),
                          .nodes = {},
                          .size = (minimum.now - count) * minimum.pods_each,
                          .text = text(count),
                          .command = command(count)};
    found_.push_back(resolver_.WithBinds(std::move(relaxation)));
  }

  const RelaxationQuery& query_;
  const objects::ObjectSet& objects_;
  const objects::PodGroup& group_;
  JobCommands commands_;
  Resolver& resolver_;
  std::vector<Relaxation>& found_;
  objects::ResourceList asked_;  // by the pods that wait
};

}  // namespace

void TryLimits(const RelaxationQuery& query, Resolver& resolver, std::vector<Relaxation>& found) {
  Limits limits(query, resolver, found);
  limits.TryQueues();
  limits.TryQuotas();
  limits.TryTiers();
  limits.TryFewerPods();
}

}  // namespace strata
