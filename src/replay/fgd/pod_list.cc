#include "replay/fgd/pod_list.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"

namespace strata::replay::fgd {
namespace {

constexpr std::int32_t kMaxGpus = 64;  // of a node and of a pod

// By model: whether "A|B" names it. Empty for "".
std::vector<char> Accepting(const std::vector<std::string>& models, std::string_view wanted) {
  std::vector<char> accepts;
  if (wanted.empty()) return accepts;
  accepts.resize(models.size());
  for (std::size_t at = 0; at <= wanted.size();) {
    const std::size_t end = std::min(wanted.find('|', at), wanted.size());
    const auto model = std::find(models.begin(), models.end(), wanted.substr(at, end - at));
    if (model != models.end()) accepts[static_cast<std::size_t>(model - models.begin())] = 1;
    at = end + 1;
  }
  return accepts;
}

void FindTypical(PodList& list) {
  constexpr std::int64_t kCoveredPercent = 95;
  std::map<PodKind, std::size_t> known;
  std::vector<TypicalPod> all;
  for (const std::uint32_t pod : list.pods) {
    PodKind kind = list.kinds[pod];
    kind.memory = 0;
    const auto [entry, added] = known.emplace(kind, all.size());
    if (added) all.push_back({.kind = std::move(kind)});
    ++all[entry->second].weight;
  }
  std::stable_sort(all.begin(), all.end(), [](const TypicalPod& a, const TypicalPod& b) {
    return a.weight > b.weight;
  });
  const auto pods = static_cast<std::int64_t>(list.pods.size());
  for (TypicalPod& one : all) {
    if (list.typical_weight * 100 >= pods * kCoveredPercent) break;
    list.typical_weight += one.weight;
    list.typical.push_back(std::move(one));
  }
}

// The same for the same seed, whatever is drawn afterwards for other purposes.
constexpr std::uint64_t kArrivalStream = 0x61727269;

}  // namespace

std::uint32_t PodList::ModelOf(const Fabric::Node& node) const {
  const auto model = std::lower_bound(models.begin(), models.end(), node.gpu_model);
  return static_cast<std::uint32_t>(model - models.begin());
}

Result<PodList> MakePodList(std::string name, const Trace& trace, const Fabric& fabric) {
  PodList list;
  list.name = std::move(name);
  list.models.reserve(fabric.nodes.size());
  for (const Fabric::Node& node : fabric.nodes) {
    if (node.gpus > kMaxGpus) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("node {}: {} GPUs: want at most {}", node.name, node.gpus, kMaxGpus));
    }
    list.models.push_back(node.gpu_model);
  }
  std::sort(list.models.begin(), list.models.end());
  list.models.erase(std::unique(list.models.begin(), list.models.end()), list.models.end());
  std::vector<const TraceJob*> jobs;
  jobs.reserve(trace.jobs.size());
  for (const TraceJob& job : trace.jobs) {
    if (job.pods != 1) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format(
              "job \"{}\": {} pods: this study places single pods, not gangs", job.name, job.pods));
    }
    if (job.gpus > kMaxGpus) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("job \"{}\": {} GPUs: want at most {}", job.name, job.gpus, kMaxGpus));
    }
    jobs.push_back(&job);
  }
  std::sort(jobs.begin(), jobs.end(), [](const TraceJob* a, const TraceJob* b) {
    return a->name < b->name;
  });
  std::map<PodKind, std::uint32_t> known;
  list.pods.reserve(jobs.size());
  for (const TraceJob* job : jobs) {
    PodKind kind{.cpu_milli = job->cpu_milli,
                 .memory = job->memory,
                 .gpus = job->gpus,
                 .milli = job->gpus == 0 ? 0 : job->gpu_milli,
                 .accepts = Accepting(list.models, job->gpu_model)};
    const auto [entry, added] =
        known.emplace(std::move(kind), static_cast<std::uint32_t>(list.kinds.size()));
    if (added) list.kinds.push_back(entry->first);
    list.pods.push_back(entry->second);
  }
  FindTypical(list);
  return list;
}

std::vector<std::uint32_t> Arrivals(const PodList& list,
                                    std::int64_t capacity,
                                    double target,
                                    std::uint64_t seed) {
  Random random(seed ^ kArrivalStream);
  std::vector<std::uint32_t> pods = list.pods;
  random.Shuffle(pods);
  const double limit = target * static_cast<double>(capacity);
  std::int64_t asked = 0;
  for (const std::uint32_t pod : pods) asked += list.kinds[pod].TotalMilli();
  while (static_cast<double>(asked) > limit) {
    const std::size_t gone = random.Below(pods.size());
    asked -= list.kinds[pods[gone]].TotalMilli();
    pods.erase(pods.begin() + static_cast<std::ptrdiff_t>(gone));
  }
  // A list without GPUs would never reach the limit.
  const bool grows = asked > 0 && pods.size() >= list.pods.size();
  while (grows) {
    const std::uint32_t more = list.pods[random.Below(list.pods.size())];
    // The authors' program compares what the pod wants of one GPU, also where it wants several.
    if (static_cast<double>(asked + list.kinds[more].milli) > limit) break;
    asked += list.kinds[more].TotalMilli();
    pods.push_back(more);
  }
  return pods;
}

}  // namespace strata::replay::fgd
