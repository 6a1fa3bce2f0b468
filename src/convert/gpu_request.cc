#include "convert/gpu_request.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "objects/meta.h"

namespace strata {
namespace {

constexpr std::string_view kCount = "nvidia.com/gpu";
constexpr std::string_view kGpuMemory = "nvidia.com/gpumem";
constexpr std::string_view kPercent = "nvidia.com/gpumem-percentage";
constexpr std::string_view kCores = "nvidia.com/gpucores";
constexpr std::array<std::string_view, 3> kShares = {kGpuMemory, kPercent, kCores};
constexpr std::int32_t kWhole = 100;

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
  RequestReader(const objects::Pod& pod, GpuRequest& out) : pod_(pod), out_(out) {}

  void Read() {
    for (const objects::Container& container : pod_.spec.init_containers) {
      Add(container, !container.sidecar);
    }
    for (const objects::Container& container : pod_.spec.containers) Add(container, false);
    const objects::Metadata& meta = pod_.meta;
    out_.use_types = LowerList(meta, "nvidia.com/use-gputype");
    out_.avoid_types = LowerList(meta, "nvidia.com/nouse-gputype");
    out_.use_uuids = List(meta, "nvidia.com/use-gpuuuid");
    out_.avoid_uuids = List(meta, "nvidia.com/nouse-gpuuuid");
    if (const std::string* mode = Annotation("nvidia.com/vgpu-mode")) out_.mode = *mode;
    ReadNumaBind();
    ReadWeights();
  }

 private:
  [[nodiscard]] const std::string* Annotation(std::string_view key) const {
    return objects::Find(pod_.meta.annotations, key);
  }

  void Refuse(std::string problem) {
    if (out_.problem.empty()) out_.problem = std::move(problem);
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

  void Add(const objects::Container& container, bool init) {
    constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
    ContainerGpuRequest request{.container = container.name, .init = init};
    request.count = static_cast<std::int32_t>(Number(container, kCount, kMax));
    request.memory_mib = Number(container, kGpuMemory, kMax);
    const auto percent = static_cast<std::int32_t>(Number(container, kPercent, kWhole));
    request.cores =
        static_cast<std::int32_t>(std::min<std::int64_t>(Number(container, kCores, kMax), kWhole));
    const bool whole = request.memory_mib == 0 && (percent == 0 || percent == kWhole);
    if (percent > 0) request.memory_percent = percent;
    if (request.memory_mib > 0) request.memory_percent = 0;
    if (request.count > 0 && whole && AmountOf(container, kCores) == nullptr) {
      request.cores = kWhole;
    }
    out_.containers.push_back(std::move(request));
  }

  void ReadNumaBind() {
    const std::string* text = Annotation("nvidia.com/numa-bind");
    if (text == nullptr || text->empty()) return;
    constexpr std::array<std::string_view, 6> kYes = {"1", "t", "T", "true", "TRUE", "True"};
    constexpr std::array<std::string_view, 6> kNo = {"0", "f", "F", "false", "FALSE", "False"};
    out_.numa_bind = std::find(kYes.begin(), kYes.end(), *text) != kYes.end();
    if (!out_.numa_bind && std::find(kNo.begin(), kNo.end(), *text) == kNo.end()) {
      Refuse(
          fmt::format("annotation nvidia.com/numa-bind: want true or false, found \"{}\"", *text));
    }
  }

  void ReadWeights() {
    constexpr std::string_view kKey = "hami.io/device-scoring-weights";
    constexpr std::int64_t kMaxWeight = 1'000'000;
    const std::string* text = Annotation(kKey);
    if (text == nullptr) return;
    std::array<std::pair<std::string_view, std::optional<std::int64_t>>, 3> weights = {
        {{"slot", {}}, {"core", {}}, {"memory", {}}}};
    bool good = true;
    for (const std::string& part : List(pod_.meta, kKey)) {
      const std::size_t equals = part.find('=');
      const auto weight = equals == std::string::npos
                              ? std::nullopt
                              : WholeNumber(std::string_view(part).substr(equals + 1), kMaxWeight);
      const auto known = std::find_if(weights.begin(), weights.end(), [&](const auto& entry) {
        return entry.first == std::string_view(part).substr(0, equals);
      });
      good = good && known != weights.end() && !known->second && weight;
      if (good) known->second = weight;
    }
    for (const auto& [name, value] : weights) good = good && value.has_value();
    if (good) {
      out_.weights = {*weights[0].second, *weights[1].second, *weights[2].second};
      good = out_.weights != GpuScoreWeights{0, 0, 0};
    }
    if (!good) {
      Refuse(fmt::format(
          "annotation {}: want slot=N,core=N,memory=N, not all 0, found \"{}\"", kKey, *text));
    }
  }

  const objects::Pod& pod_;
  GpuRequest& out_;
};

GpuPolicy ReadPolicy(const objects::Pod& pod, std::vector<std::string>* warnings) {
  constexpr std::string_view kKey = "hami.io/gpu-scheduler-policy";
  GpuPolicy policy;
  const std::vector<std::string> words = List(pod.meta, kKey);
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
      warnings->push_back(
          fmt::format("annotation {}: \"{}\" is not a policy (want binpack, spread, numa, mutex or "
                      "topology-aware) and has no effect",
                      kKey,
                      word));
    }
  }
  if (policy.order.empty()) policy.order.push_back(GpuOrder::kSpread);
  return policy;
}

GpuNodePolicy ReadNodePolicy(const objects::Pod& pod, std::vector<std::string>* warnings) {
  constexpr std::string_view kKey = "hami.io/node-scheduler-policy";
  const std::string* text = objects::Find(pod.meta.annotations, kKey);
  if (text == nullptr || text->empty() || *text == "binpack") return GpuNodePolicy::kBinpack;
  if (*text == "spread") return GpuNodePolicy::kSpread;
  if (warnings != nullptr) {
    warnings->push_back(fmt::format(
        "annotation {}: \"{}\" is not a policy (want binpack or spread); binpack applies",
        kKey,
        *text));
  }
  return GpuNodePolicy::kBinpack;
}

// One look for most containers, which name none. Requests include what only limits name.
bool NamesGpus(const objects::Container& container) {
  const auto first = container.requests.lower_bound(kCount);
  return first != container.requests.end() && first->first.starts_with(kCount);
}

// Names shares of a GPU and no count.
bool LacksCount(const objects::Container& container) {
  return NamesGpus(container) && AmountOf(container, kCount) == nullptr &&
         std::any_of(kShares.begin(), kShares.end(), [&](std::string_view name) {
           const Quantity* amount = AmountOf(container, name);
           return amount != nullptr && !amount->IsZero();
         });
}

}  // namespace

std::optional<GpuRequest> ReadGpuRequest(const objects::Pod& pod,
                                         std::vector<std::string>* warnings) {
  const auto any = [](const auto& containers) {
    return std::any_of(containers.begin(), containers.end(), NamesGpus);
  };
  if (!any(pod.spec.containers) && !any(pod.spec.init_containers)) return std::nullopt;
  GpuRequest request;
  RequestReader(pod, request).Read();
  const bool asks =
      std::any_of(request.containers.begin(),
                  request.containers.end(),
                  [](const ContainerGpuRequest& container) { return container.count > 0; });
  if (!asks && request.problem.empty()) return std::nullopt;
  request.policy = ReadPolicy(pod, warnings);
  request.node_policy = ReadNodePolicy(pod, warnings);
  return request;
}

bool LacksGpuCounts(const objects::PodSpec& spec) {
  const auto any = [](const auto& containers) {
    return std::any_of(containers.begin(), containers.end(), LacksCount);
  };
  return any(spec.containers) || any(spec.init_containers);
}

void AddDefaultGpuCounts(objects::PodSpec& spec) {
  for (auto* containers : {&spec.init_containers, &spec.containers}) {
    for (objects::Container& container : *containers) {
      if (!LacksCount(container)) continue;
      container.requests.emplace(kCount, Quantity::FromValue(1));
      container.limits.emplace(kCount, Quantity::FromValue(1));
    }
  }
}

}  // namespace strata
