#include "convert/numa_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "objects/annotation_values.h"
#include "objects/volcano_keys.h"

namespace strata {
namespace {

constexpr std::int32_t kMaxCpu = 65535;

std::optional<std::int32_t> ParseCpu(std::string_view text) {
  std::int32_t cpu = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return cpu >= 0 && cpu <= kMaxCpu ? std::optional(cpu) : std::nullopt;
}

Result<NumaPolicy> ParsePolicy(const std::string& field, std::string_view text) {
  if (const auto policy = objects::ParseNumaPolicy(text)) return *policy;
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: {}", field, objects::NumaPolicyProblem(text)));
}

std::string_view PolicyNamed(const objects::NumaTopology& topology, const char* name) {
  const auto it = topology.policies.find(name);
  return it == topology.policies.end() ? std::string_view() : it->second;
}

// The CPUs that the kubelet keeps for the system.
std::set<std::int32_t> ReservedCpus(const objects::NumaTopology& topology) {
  const auto reserved = topology.reserved.find("cpu");
  if (reserved == topology.reserved.end()) return {};
  const auto count = static_cast<std::size_t>(
      std::clamp<std::int64_t>(reserved->second.Value().value_or(kMaxCpu), 0, kMaxCpu));
  std::vector<std::tuple<std::int32_t, std::int32_t, std::int32_t>> cpus;
  for (const auto& [cpu, detail] : topology.cpus) {
    cpus.emplace_back(detail.socket, detail.core, cpu);
  }
  std::sort(cpus.begin(), cpus.end());
  std::set<std::int32_t> first;
  for (std::size_t i = 0; i < std::min(count, cpus.size()); ++i) {
    first.insert(std::get<2>(cpus[i]));
  }
  return first;
}

bool IsPositive(const objects::ResourceList& list, std::string_view name) {
  const auto it = list.find(name);
  return it != list.end() && !it->second.IsZero();
}

// cpu and memory are asked for, and not less than they are limited to.
bool IsFixed(const objects::ResourceList& requests, const objects::ResourceList& limits) {
  constexpr std::array<std::string_view, 2> kNames = {"cpu", "memory"};
  return std::all_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    return IsPositive(limits, name) && IsPositive(requests, name) &&
           requests.find(name)->second == limits.find(name)->second;
  });
}

bool IsGuaranteed(const objects::PodSpec& spec) {
  if (spec.resources) return IsFixed(spec.resources->requests, spec.resources->limits);
  const auto fixed = [](const objects::Container& container) {
    return IsFixed(container.requests, container.limits);
  };
  return std::all_of(spec.containers.begin(), spec.containers.end(), fixed) &&
         std::all_of(spec.init_containers.begin(), spec.init_containers.end(), fixed);
}

void AddWholeCpus(const objects::Container& container, std::vector<std::int32_t>& cpus) {
  const auto cpu = container.requests.find("cpu");
  if (cpu == container.requests.end() || !cpu->second.IsInteger()) return;
  const std::int64_t whole = cpu->second.Value().value_or(INT32_MAX);
  if (whole <= 0) return;
  cpus.push_back(static_cast<std::int32_t>(std::min<std::int64_t>(whole, INT32_MAX)));
}

}  // namespace

Result<std::set<std::int32_t>> ParseCpuSet(std::string_view text) {
  std::set<std::int32_t> cpus;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t dash = std::min(part.find('-'), part.size());
    const auto first = ParseCpu(part.substr(0, dash));
    const auto last = dash == part.size() ? first : ParseCpu(part.substr(dash + 1));
    if (!first || !last || *last < *first) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("want a list of cpus such as 0-3,8, found \"{}\"", text));
    }
    for (std::int32_t cpu = *first; cpu <= *last; ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

Result<NumaSpec> ToNumaSpec(const objects::NumaTopology& topology) {
  NumaSpec spec;
  spec.static_cpus = PolicyNamed(topology, "CPUManagerPolicy") == "static";
  TRY_ASSIGN(spec.policy,
             ParsePolicy("spec.policies.TopologyManagerPolicy",
                         PolicyNamed(topology, "TopologyManagerPolicy")));
  std::set<std::int32_t> free;
  if (const auto cpu = topology.resources.find("cpu"); cpu != topology.resources.end()) {
    auto parsed = ParseCpuSet(cpu->second.allocatable);
    if (!parsed) {
      return tl::unexpected<Error>(
          std::move(parsed).error().Context("spec.numares.cpu.allocatable"));
    }
    free = std::move(*parsed);
  }
  for (const std::int32_t cpu : ReservedCpus(topology)) free.erase(cpu);
  std::map<std::int32_t, NumaCell> cells;
  for (const auto& [cpu, detail] : topology.cpus) {
    NumaCell& cell = cells[detail.numa];
    ++cell.cpus;
    cell.free += free.contains(cpu) ? 1 : 0;
  }
  for (const auto& [id, cell] : cells) spec.cells.push_back(cell);
  return spec;
}

Result<NumaRules> ToNumaRules(const objects::Pod& pod) {
  NumaRules rules;
  if (const std::string* text = objects::Find(pod.meta.annotations, objects::kNumaPolicyKey)) {
    const std::string field = "metadata.annotations." + std::string(objects::kNumaPolicyKey);
    auto policy = ParsePolicy(field, *text);
    if (!policy && pod.spec.node_name.empty()) return tl::unexpected(std::move(policy.error()));
    rules.policy = policy.value_or(NumaPolicy::kNone);
  }
  if (!IsGuaranteed(pod.spec)) return NumaRules{};
  // As they start; an init container that ends gives its CPUs to those that follow.
  for (const objects::Container& container : pod.spec.init_containers) {
    if (container.sidecar) AddWholeCpus(container, rules.cpus);
  }
  for (const objects::Container& container : pod.spec.containers) {
    AddWholeCpus(container, rules.cpus);
  }
  return rules;
}

}  // namespace strata
