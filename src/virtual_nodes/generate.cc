#include "virtual_nodes/generate.h"

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "agent/publish.h"
#include "base/ascii.h"
#include "base/quantity.h"
#include "json/dump.h"
#include "json/parse.h"
#include "virtual_nodes/decide.h"

namespace strata::virtual_nodes {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kShape = "spines=S,racks=R,nodes=N[,gpus=G[:MODEL]][,cpu=C][,memory=M]";

std::string NodeName(std::int64_t i) {
  return fmt::format("node-{}", i);
}
std::string RackName(std::int64_t i) {
  return fmt::format("rack-{}", i);
}
std::string SpineName(std::int64_t i) {
  return fmt::format("spine-{}", i);
}

std::string MachineNames() {
  std::vector<std::string_view> names;
  for (const GpuMachine& machine : GpuMachines()) names.push_back(machine.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Status ReadCount(std::string_view key, std::string_view text, std::int64_t& out) {
  const auto number = WholeNumber(text, GenerateSpec::kMaxNodes);
  if (!number || *number == 0) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format(
            "{}: want a number from 1 to {}, not \"{}\"", key, GenerateSpec::kMaxNodes, text));
  }
  out = *number;
  return {};
}

// Without a model: GPUs that nobody shares and of which nothing but their number is known.
Status ReadPlainGpus(std::string_view text, GenerateSpec& spec) {
  const auto number = WholeNumber(text, GenerateSpec::kMaxPlainGpus);
  if (!number || *number == 0) {
    return Fail(Code::kInvalidArgument,
                fmt::format("gpus: want a number from 1 to {}, or NUMBER:MODEL such as 8:hgxh100, "
                            "not \"{}\"",
                            GenerateSpec::kMaxPlainGpus,
                            text));
  }
  spec.gpus = *number;
  return {};
}

Status ReadGpus(std::string_view text, GenerateSpec& spec) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return ReadPlainGpus(text, spec);
  const std::string_view model = text.substr(colon + 1);
  spec.machine = FindGpuMachine(model);
  if (spec.machine == nullptr) {
    return Fail(Code::kInvalidArgument,
                fmt::format("gpus: unknown model \"{}\" (want one of {})", model, MachineNames()));
  }
  const auto max = static_cast<std::int64_t>(spec.machine->numa.size());
  const auto number = WholeNumber(text.substr(0, colon), max);
  if (!number || *number == 0) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("gpus: {} has 1 to {} GPUs, not \"{}\"", model, max, text.substr(0, colon)));
  }
  spec.gpus = *number;
  return {};
}

Status ReadAmount(std::string_view key, std::string_view text, std::string& out) {
  const auto amount = Quantity::Parse(text);
  if (!amount) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: {}", key, amount.error().message));
  }
  if (amount->IsNegative()) {
    return Fail(Code::kInvalidArgument, fmt::format("{}: must not be negative", key));
  }
  out = amount->ToString();
  return {};
}

Status ReadPart(std::string_view key, std::string_view value, GenerateSpec& spec) {
  if (key == "spines") return ReadCount(key, value, spec.spines);
  if (key == "racks") return ReadCount(key, value, spec.racks);
  if (key == "nodes") return ReadCount(key, value, spec.nodes);
  if (key == "gpus") return ReadGpus(value, spec);
  if (key == "cpu") return ReadAmount(key, value, spec.cpu);
  if (key == "memory") return ReadAmount(key, value, spec.memory);
  return Fail(Code::kInvalidArgument, fmt::format("unknown key \"{}\" (want {})", key, kShape));
}

// The machine with its first GPUs only.
NodeGpus GpusOf(const GenerateSpec& spec, const std::string& node) {
  NodeGpus gpus = MakeNodeGpus(*spec.machine, node);
  const auto count = static_cast<std::size_t>(spec.gpus);
  if (count == gpus.gpus.size()) return gpus;
  std::vector<std::optional<std::int32_t>> scores;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) scores.emplace_back(gpus.scores.Get(i, j));
  }
  gpus.gpus.resize(count);
  gpus.scores = PairScores(count, scores);
  return gpus;
}

// Kubelets count the shares of GPUs that HAMi's device plugin offers, not the GPUs.
std::int64_t SharesOf(const NodeGpus& gpus) {
  std::int64_t shares = 0;
  for (const Gpu& gpu : gpus.gpus) shares += gpu.slots;
  return shares;
}

// What the agent of the machine has written on its Node: metadata. A virtual kubelet knows its
// pods, so binds need no lock (convert/node_lock.h).
Json Published(const agent::Machine& machine, Time now) {
  const agent::AgentFacts facts{.version = "virtual",
                                .identity = "pods",
                                .shares = machine.node.gpus.front().slots,
                                .boot = ""};
  return ParseJsonOrNull(agent::PatchToPublish(machine, facts, {}, now)).at("metadata");
}

Json MakeNode(const GenerateSpec& spec, std::int64_t index, Time now) {
  const std::string name = NodeName(index);
  const std::int64_t rack = index / spec.nodes;
  const std::int64_t spine = rack / spec.racks;
  Json meta = {{"name", name},
               {"labels",
                {{"kubernetes.io/hostname", name},
                 {std::string(kVirtualLabel), "true"},
                 {"strata.sh/rack", RackName(rack)},
                 {"strata.sh/spine", SpineName(spine)}}}};
  Json resources = {{"cpu", spec.cpu}, {"memory", spec.memory}, {"pods", "110"}};
  if (spec.machine != nullptr) {
    agent::Machine machine;
    machine.node = GpusOf(spec, name);
    // The NVLink domain of a rack.
    if (spec.machine->has_clique) machine.clique = RackName(rack) + ".0";
    resources["nvidia.com/gpu"] = fmt::format("{}", SharesOf(machine.node));
    meta.merge_patch(Published(machine, now));
  } else if (spec.gpus > 0) {
    resources["nvidia.com/gpu"] = fmt::format("{}", spec.gpus);
  }
  return {{"apiVersion", "v1"},
          {"kind", "Node"},
          {"metadata", std::move(meta)},
          {"status", FullNodeStatus(name, std::move(resources), now)}};
}

struct Tier {
  int number;
  const char* name;
};

Json MakeHyperNode(const std::string& name, const Tier& tier, Json members) {
  return {
      {"apiVersion", "topology.volcano.sh/v1alpha1"},
      {"kind", "HyperNode"},
      {"metadata", Json::object({{"name", name}})},
      {"spec", {{"tier", tier.number}, {"tierName", tier.name}, {"members", std::move(members)}}}};
}

Json RackMembers(const std::string& rack) {
  const Json labels = Json::object({{"strata.sh/rack", rack}});
  const Json match = Json::object({{"matchLabels", labels}});
  const Json selector = Json::object({{"labelMatch", match}});
  return Json::array({Json::object({{"type", "Node"}, {"selector", selector}})});
}

Json SpineMembers(const GenerateSpec& spec, std::int64_t spine) {
  Json members = Json::array();
  for (std::int64_t i = spine * spec.racks; i < (spine + 1) * spec.racks; ++i) {
    const Json match = Json::object({{"name", RackName(i)}});
    const Json selector = Json::object({{"exactMatch", match}});
    members.push_back(Json::object({{"type", "HyperNode"}, {"selector", selector}}));
  }
  return members;
}

}  // namespace

Result<GenerateSpec> ParseGenerateSpec(std::string_view text) {
  GenerateSpec spec;
  std::map<std::string_view, std::string_view> given;
  for (const std::string_view part : Split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return Fail(Code::kInvalidArgument, fmt::format("\"{}\": want {}", part, kShape));
    }
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    if (!given.emplace(key, value).second) {
      return Fail(Code::kInvalidArgument, fmt::format("{}: given twice", key));
    }
    TRY(ReadPart(key, value, spec));
  }
  for (const std::string_view key : {"spines", "racks", "nodes"}) {
    if (!given.contains(key)) {
      return Fail(Code::kInvalidArgument, fmt::format("{}: missing (want {})", key, kShape));
    }
  }
  if (spec.spines * spec.racks > GenerateSpec::kMaxNodes ||
      spec.spines * spec.racks * spec.nodes > GenerateSpec::kMaxNodes) {
    return Fail(Code::kInvalidArgument, fmt::format("more than {} nodes", GenerateSpec::kMaxNodes));
  }
  return spec;
}

std::vector<GeneratedObject> GenerateCluster(const GenerateSpec& spec, Time now) {
  std::vector<GeneratedObject> objects;
  const std::int64_t racks = spec.spines * spec.racks;
  const std::int64_t nodes = racks * spec.nodes;
  objects.reserve(static_cast<std::size_t>(nodes + racks + spec.spines));
  for (std::int64_t i = 0; i < nodes; ++i) {
    objects.push_back({kube::kNodes, NodeName(i), DumpJson(MakeNode(spec, i, now))});
  }
  for (std::int64_t i = 0; i < racks; ++i) {
    const Json rack = MakeHyperNode(RackName(i), {1, "rack"}, RackMembers(RackName(i)));
    objects.push_back({kube::kHyperNodes, RackName(i), DumpJson(rack)});
  }
  for (std::int64_t i = 0; i < spec.spines; ++i) {
    const Json spine = MakeHyperNode(SpineName(i), {2, "spine"}, SpineMembers(spec, i));
    objects.push_back({kube::kHyperNodes, SpineName(i), DumpJson(spine)});
  }
  return objects;
}

}  // namespace strata::virtual_nodes
