#include "convert/gpu_request.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "convert/gpu_dialect.h"
#include "convert/specs.h"
#include "model/gpu_amounts.h"
#include "objects/annotation_values.h"
#include "objects/meta.h"

namespace strata {
namespace {

constexpr std::int32_t kWhole = 100;
constexpr std::int64_t kMaxAmount32 = std::numeric_limits<std::int32_t>::max();

// The parts of a comma list, trimmed, without empty ones.
std::vector<std::string> List(const objects::Metadata& meta, std::string_view key) {
  std::vector<std::string> parts;
  const std::string* text = objects::Find(meta.annotations, key);
  if (text == nullptr) return parts;
  for (const std::string_view part : Split(*text, ',')) {
    if (!Trim(part).empty()) parts.emplace_back(Trim(part));
  }
  return parts;
}

std::vector<std::string> LowerList(const objects::Metadata& meta, std::string_view key) {
  std::vector<std::string> parts = List(meta, key);
  for (std::string& part : parts) part = LowerCase(part);
  return parts;
}

const Quantity* AmountOf(const objects::Container& container, std::string_view name) {
  for (const auto* list : {&container.limits, &container.requests}) {
    if (const auto it = list->find(name); it != list->end()) return &it->second;
  }
  return nullptr;
}

// Reads the numbers of one pod; the first that is none is its problem.
class RequestReader {
 public:
  RequestReader(const objects::Pod& pod, const GpuNames& names, GpuRequest& out)
      : pod_(pod), names_(names), out_(out) {}

  void Read() {
    out_.dialect = names_.dialect;
    for (const objects::Container& container : pod_.spec.init_containers) {
      AddInit(container);
    }
    for (const objects::Container& container : pod_.spec.containers) Add(container, false);
    const objects::Metadata& meta = pod_.meta;
    out_.use_types = LowerList(meta, "nvidia.com/use-gputype");
    out_.avoid_types = LowerList(meta, "nvidia.com/nouse-gputype");
    out_.use_uuids = List(meta, names_.use_uuids);
    out_.avoid_uuids = List(meta, names_.avoid_uuids);
    if (const std::string* mode = Annotation(names_.mode)) out_.mode = *mode;
    if (IsVolcano()) ReadVolcanoWishes();
    ReadNumaBind();
    ReadWeights();
  }

 private:
  [[nodiscard]] bool IsVolcano() const { return names_.dialect == GpuDialect::kVolcano; }

  [[nodiscard]] const std::string* Annotation(std::string_view key) const {
    return objects::Find(pod_.meta.annotations, key);
  }

  void Refuse(std::string problem) {
    if (out_.problem.empty()) out_.problem = std::move(problem);
  }

  void RefuseValue(std::string_view key, std::string_view value) {
    Refuse(fmt::format("annotation {}: {}", key, objects::AnnotationProblem(key, value)));
  }

  // The amount as a whole number of at most `max`; 0 when the container does not name it.
  std::int64_t Number(const objects::Container& container,
                      std::string_view name,
                      std::int64_t max) {
    const Quantity* amount = AmountOf(container, name);
    if (amount == nullptr) return 0;
    const auto value = amount->Value();
    if (amount->IsInteger() && !amount->IsNegative() && value && *value <= max) return *value;
    Refuse(fmt::format("container {}: {} {}: want a whole number from 0 to {}",
                       container.name,
                       name,
                       amount->ToString(),
                       max));
    return 0;
  }

  // The records of Volcano's dialect have no place for init containers and sidecars.
  void AddInit(const objects::Container& container) {
    if (!IsVolcano()) return Add(container, !container.sidecar);
    if (!NamesGpus(container, names_)) return;
    Refuse(fmt::format("container {}: {} is not supported in init containers and sidecars",
                       container.name,
                       names_.count));
  }

  // Where both are given, the memory counts in HAMi's dialect and the percentage in Volcano's. A
  // whole GPU is exclusive in HAMi's, by its webhook.
  void Add(const objects::Container& container, bool init) {
    ContainerGpuRequest request{.container = container.name, .init = init};
    request.count = static_cast<std::int32_t>(Number(container, names_.count, kMaxAmount32));
    request.memory_mib = Number(container, names_.memory, kMaxAmount32);
    const auto percent = static_cast<std::int32_t>(Number(container, names_.percent, kWhole));
    const std::int64_t cores = Number(container, names_.cores, IsVolcano() ? kWhole : kMaxAmount32);
    request.cores = static_cast<std::int32_t>(std::min<std::int64_t>(cores, kWhole));
    if (IsVolcano() && percent > 0) request.memory_mib = 0;
    const bool whole = request.memory_mib == 0 && (percent == 0 || percent == kWhole);
    if (percent > 0) request.memory_percent = percent;
    if (request.memory_mib > 0) request.memory_percent = 0;
    if (!IsVolcano() && request.count > 0 && whole &&
        AmountOf(container, names_.cores) == nullptr) {
      request.cores = kWhole;
    }
    out_.containers.push_back(std::move(request));
  }

  void ReadVolcanoWishes() {
    if (out_.mode == "mig") {
      Refuse(fmt::format("annotation {}: mig is not supported (want hami-core)", names_.mode));
    }
    const std::string* policy = Annotation(objects::kVgpuGroupPolicyKey);
    if (policy != nullptr && *policy == "spread") out_.spread_group = GroupOf(pod_);
  }

  void ReadNumaBind() {
    const std::string* text = Annotation(objects::kGpuNumaBindKey);
    if (text == nullptr || text->empty()) return;
    const auto bind = objects::ParseFlag(*text);
    if (!bind) return RefuseValue(objects::kGpuNumaBindKey, *text);
    out_.numa_bind = *bind;
  }

  void ReadWeights() {
    const std::string* text = Annotation(objects::kGpuWeightsKey);
    if (text == nullptr) return;
    const auto weights = objects::ParseScoreWeights(*text);
    if (!weights) return RefuseValue(objects::kGpuWeightsKey, *text);
    out_.weights = *weights;
  }

  const objects::Pod& pod_;
  const GpuNames& names_;
  GpuRequest& out_;
};

// What a pod of Volcano's dialect does not name is left to the configuration.
GpuPolicy ReadPolicy(const objects::Pod& pod,
                     GpuDialect dialect,
                     std::vector<std::string>* warnings) {
  GpuPolicy policy;
  const std::vector<std::string> words = List(pod.meta, objects::kGpuPolicyKey);
  if (words.empty() && dialect == GpuDialect::kVolcano) return policy;
  policy.chain = words.size() > 1 || (words.size() == 1 && words[0] == "numa");
  for (const std::string& word : words) {
    if (word == "binpack") {
      policy.order.push_back(GpuOrder::kBinpack);
    } else if (word == "spread") {
      policy.order.push_back(GpuOrder::kSpread);
    } else if (word == "numa") {
      policy.order.push_back(GpuOrder::kNuma);
    } else if (word == "mutex") {
      policy.unused_only = true;
    } else if (word == "topology-aware") {
      policy.topology_aware = true;
    } else if (warnings != nullptr) {
      warnings->push_back(fmt::format("annotation {}: {} and has no effect",
                                      objects::kGpuPolicyKey,
                                      objects::GpuPolicyProblem(word)));
    }
  }
  if (policy.order.empty()) policy.order.push_back(GpuOrder::kSpread);
  return policy;
}

GpuNodePolicy ReadNodePolicy(const objects::Pod& pod,
                             GpuDialect dialect,
                             std::vector<std::string>* warnings) {
  const std::string* text = objects::Find(pod.meta.annotations, objects::kGpuNodePolicyKey);
  if (text == nullptr || text->empty()) {
    return dialect == GpuDialect::kVolcano ? GpuNodePolicy::kAsConfigured : GpuNodePolicy::kBinpack;
  }
  if (*text == "binpack") return GpuNodePolicy::kBinpack;
  if (*text == "spread") return GpuNodePolicy::kSpread;
  if (warnings != nullptr) {
    warnings->push_back(fmt::format("annotation {}: {}; binpack applies",
                                    objects::kGpuNodePolicyKey,
                                    objects::GpuNodePolicyProblem(*text)));
  }
  return GpuNodePolicy::kBinpack;
}

// Names shares of a GPU and no count.
bool LacksCount(const objects::Container& container, const GpuNames& names) {
  if (!NamesGpus(container, names) || AmountOf(container, names.count) != nullptr) return false;
  const std::array<std::string_view, 3> shares = {names.memory, names.percent, names.cores};
  return std::any_of(shares.begin(), shares.end(), [&](std::string_view name) {
    const Quantity* amount = AmountOf(container, name);
    return amount != nullptr && !amount->IsZero();
  });
}

// What it asks for in one dialect.
std::optional<GpuRequest> ReadIn(GpuDialect dialect, const objects::Pod& pod) {
  const GpuNames& names = NamesOf(dialect);
  if (!NamesGpus(pod.spec, names)) return std::nullopt;
  GpuRequest request;
  RequestReader(pod, names, request).Read();
  const bool asks =
      std::any_of(request.containers.begin(),
                  request.containers.end(),
                  [](const ContainerGpuRequest& container) { return container.count > 0; });
  if (!asks && request.problem.empty()) return std::nullopt;
  return request;
}

std::int64_t NumberIn(const objects::ResourceList& amounts, std::string_view name) {
  const auto it = amounts.find(name);
  if (it == amounts.end() || !it->second.IsInteger()) return 0;
  return std::clamp<std::int64_t>(it->second.Value().value_or(0), 0, kMaxAmount32);
}

std::optional<GpuRequest> ReadMinIn(GpuDialect dialect, const objects::ResourceList& amounts) {
  const GpuNames& names = NamesOf(dialect);
  const std::int64_t count = NumberIn(amounts, names.count);
  if (count == 0) return std::nullopt;
  const auto each = [&](std::string_view name) {
    return (NumberIn(amounts, name) + count - 1) / count;
  };
  ContainerGpuRequest share{.container = "", .count = static_cast<std::int32_t>(count)};
  const std::int64_t percent = std::min<std::int64_t>(each(names.percent), kWhole);
  if (percent > 0) share.memory_percent = static_cast<std::int32_t>(percent);
  if (percent == 0 || dialect == GpuDialect::kHami) share.memory_mib = each(names.memory);
  share.cores = static_cast<std::int32_t>(std::min<std::int64_t>(each(names.cores), kWhole));
  GpuRequest request;
  request.dialect = dialect;
  request.containers = {std::move(share)};
  if (!request.CountsApart()) return std::nullopt;
  return request;
}

}  // namespace

std::optional<GpuRequest> ReadGpuRequest(const objects::Pod& pod,
                                         std::vector<std::string>* warnings) {
  std::optional<GpuRequest> request = ReadIn(GpuDialect::kHami, pod);
  if (std::optional<GpuRequest> other = ReadIn(GpuDialect::kVolcano, pod)) {
    if (request) {
      other->problem =
          fmt::format("requests both {} and {} (want one of them)", kGpuResource, kVgpuResource);
    }
    request = std::move(other);
  }
  if (!request) return std::nullopt;
  request->policy = ReadPolicy(pod, request->dialect, warnings);
  request->node_policy = ReadNodePolicy(pod, request->dialect, warnings);
  return request;
}

std::optional<GpuRequest> ReadMinGpus(const objects::ResourceList& min_resources) {
  if (min_resources.contains(kVgpuResource)) {
    return ReadMinIn(GpuDialect::kVolcano, min_resources);
  }
  return ReadMinIn(GpuDialect::kHami, min_resources);
}

bool LacksGpuCounts(const objects::PodSpec& spec) {
  const auto lacks = [](const objects::Container& container) {
    return std::any_of(kGpuDialects.begin(), kGpuDialects.end(), [&](GpuDialect dialect) {
      return LacksCount(container, NamesOf(dialect));
    });
  };
  return std::any_of(spec.containers.begin(), spec.containers.end(), lacks) ||
         std::any_of(spec.init_containers.begin(), spec.init_containers.end(), lacks);
}

void AddDefaultGpuCounts(objects::PodSpec& spec) {
  for (auto* containers : {&spec.init_containers, &spec.containers}) {
    for (objects::Container& container : *containers) {
      for (const GpuDialect dialect : kGpuDialects) {
        const GpuNames& names = NamesOf(dialect);
        if (!LacksCount(container, names)) continue;
        container.requests.emplace(names.count, Quantity::FromValue(1));
        container.limits.emplace(names.count, Quantity::FromValue(1));
      }
    }
  }
}

}  // namespace strata
