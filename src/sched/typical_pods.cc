#include "sched/typical_pods.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "model/gpu_amounts.h"

namespace strata {
namespace {

constexpr std::int64_t kMaxWeightOfPod = 1'000'000;
constexpr std::int64_t kMaxGpus = 1024;
constexpr std::int64_t kMaxCores = 1'000'000;

tl::unexpected<Error> Want(std::string_view part, std::string_view wanted) {
  return Fail(Code::kInvalidArgument, fmt::format("\"{}\": want {}", part, wanted));
}

// "8" or "500m".
std::optional<Amount> ParseCpu(std::string_view text) {
  const bool milli = text.ends_with('m');
  if (milli) text.remove_suffix(1);
  const auto number = WholeNumber(text, milli ? kMaxCores * 1000 : kMaxCores);
  if (!number) return std::nullopt;
  return milli ? *number : *number * 1000;
}

Status ReadField(std::string_view part, TypicalPods::Weighted& out) {
  const std::size_t equals = part.find('=');
  const std::string_view name = Trim(part.substr(0, equals));
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : Trim(part.substr(equals + 1));
  if (name == "cpu") {
    const auto cpu = ParseCpu(value);
    if (!cpu) return Want(part, "cores, as in cpu=8 or cpu=500m");
    out.pod.cpu_milli = *cpu;
  } else if (name == "gpus") {
    const auto gpus = WholeNumber(value, kMaxGpus);
    if (!gpus) return Want(part, "a number of GPUs, as in gpus=8");
    out.pod.gpus = *gpus;
  } else if (name == "milli") {
    const auto milli = WholeNumber(value, kWholeGpu);
    if (!milli || *milli == 0) return Want(part, "thousandths of a GPU, as in milli=500");
    out.pod.milli = static_cast<std::int32_t>(*milli);
  } else if (name == "models") {
    for (const std::string_view model : Split(value, '|')) {
      if (Trim(model).empty()) return Want(part, "models, as in models=T4|A100");
      out.pod.models.push_back(LowerCase(Trim(model)));
    }
  } else if (name == "weight") {
    const auto weight = WholeNumber(value, kMaxWeightOfPod);
    if (!weight || *weight == 0) return Want(part, "a number of pods, as in weight=12");
    out.weight = *weight;
  } else {
    return Want(part, "cpu=, gpus=, milli=, models= or weight=");
  }
  return {};
}

// GPUs that are asked for by number alone, of any vendor.
std::int64_t CountedGpus(const ResourceNames& names, const Resources& request) {
  std::int64_t gpus = 0;
  const auto& amounts = request.amounts();
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    if (amounts[i] <= 0 || !names.name(IdAt<ResourceId>(i)).ends_with("/gpu")) continue;
    gpus += std::min(amounts[i] / kWholeGpu, kMaxGpus);
  }
  return std::min(gpus, kMaxGpus);
}

// The most GPUs that its containers have at a time.
std::int64_t RequestedGpus(const GpuRequest& request) {
  std::int64_t together = 0;
  std::int64_t most = 0;
  for (const ContainerGpuRequest& container : request.containers) {
    most = std::max(most, together + container.count);
    if (!container.init) together += container.count;
  }
  return std::min(most, kMaxGpus);
}

TypicalPod KindOf(const ResourceNames& names, const ClassSpec& spec) {
  TypicalPod pod;
  pod.cpu_milli = spec.request.Get(kCpu);
  if (spec.gpus && spec.gpus->problem.empty()) {
    pod.gpus = RequestedGpus(*spec.gpus);
    pod.request = spec.gpus;
    // What makes no difference to what a pod can use.
    pod.request->quota_namespace.clear();
    pod.request->spread_group.clear();
    for (ContainerGpuRequest& container : pod.request->containers) container.container.clear();
  } else {
    pod.gpus = CountedGpus(names, spec.request);
  }
  pod.milli = pod.gpus > 0 ? static_cast<std::int32_t>(kWholeGpu) : 0;
  return pod;
}

// The last `count` tasks, in no particular order.
std::vector<TaskId> LastTasks(const WorkloadTable& workload, std::size_t count) {
  std::vector<TaskId> tasks = workload.AllTasks();
  if (tasks.size() <= count) return tasks;
  const auto later = [&](TaskId a, TaskId b) {
    const Task& one = workload.task(a);
    const Task& other = workload.task(b);
    return std::tie(one.created, one.name, one.uid) >
           std::tie(other.created, other.name, other.uid);
  };
  const auto end = tasks.begin() + static_cast<std::ptrdiff_t>(count);
  std::nth_element(tasks.begin(), end, tasks.end(), later);
  tasks.erase(end, tasks.end());
  return tasks;
}

}  // namespace

std::int64_t TypicalPods::Weight() const {
  std::int64_t sum = 0;
  for (const Weighted& one : pods) sum += one.weight;
  return sum;
}

Result<TypicalPods> ParseTypicalPods(std::string_view text) {
  constexpr std::size_t kMaxKinds = 1000;
  TypicalPods out;
  for (const std::string_view line : Split(text, ';')) {
    if (Trim(line).empty()) continue;
    TypicalPods::Weighted& one = out.pods.emplace_back();
    for (const std::string_view part : Split(Trim(line), ',')) TRY(ReadField(Trim(part), one));
    if (one.pod.gpus == 0 && (one.pod.milli != 0 || !one.pod.models.empty())) {
      return Want(Trim(line), "gpus= beside milli= and models=");
    }
    if (one.pod.gpus > 0 && one.pod.milli == 0) {
      one.pod.milli = static_cast<std::int32_t>(kWholeGpu);
    }
  }
  if (out.pods.size() <= kMaxKinds) return out;
  return Fail(Code::kInvalidArgument,
              fmt::format("{} kinds of pods: want at most {}", out.pods.size(), kMaxKinds));
}

TypicalPods LearnTypicalPods(const ClusterState& state, std::size_t count) {
  const std::vector<TaskId> tasks = LastTasks(state.workload(), count);
  std::map<ClassId, std::int64_t> by_class;
  for (const TaskId id : tasks) ++by_class[state.workload().task(id).class_id];
  std::map<TypicalPod, std::int64_t> by_kind;
  for (const auto& [id, pods] : by_class) {
    by_kind[KindOf(state.resource_names(), state.classes().spec(id))] += pods;
  }
  std::vector<TypicalPods::Weighted> kinds;
  kinds.reserve(by_kind.size());
  for (const auto& [pod, pods] : by_kind) kinds.push_back({.pod = pod, .weight = pods});
  std::stable_sort(
      kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.weight > b.weight; });
  TypicalPods out;
  std::size_t covered = 0;
  for (TypicalPods::Weighted& one : kinds) {
    if (covered * 100 >= tasks.size() * 95) break;
    covered += static_cast<std::size_t>(one.weight);
    out.pods.push_back(std::move(one));
  }
  return out;
}

std::optional<GpuAsk> AskOf(const TypicalPod& pod, const Gpu* kind) {
  GpuAsk ask{.cpu_milli = pod.cpu_milli, .gpus = pod.gpus, .milli = pod.milli};
  if (pod.gpus == 0 || kind == nullptr) return ask;
  if (pod.request) {
    const auto amount = AmountOn(*pod.request, *kind);
    if (!amount) return std::nullopt;
    ask.milli = static_cast<std::int32_t>((*amount + pod.gpus - 1) / pod.gpus);
    return ask;
  }
  if (pod.models.empty()) return ask;
  const std::string type = LowerCase(kind->type);
  const bool accepted =
      std::any_of(pod.models.begin(), pod.models.end(), [&](const std::string& part) {
        return type.find(part) != std::string::npos;
      });
  return accepted ? std::optional(ask) : std::nullopt;
}

}  // namespace strata
