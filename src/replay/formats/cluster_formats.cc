// The past of a cluster of one's own: finished jobs of a snapshot, and series of
// kube-state-metrics.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/quantity.h"
#include "json/access.h"
#include "json/error.h"
#include "json/parse.h"
#include "replay/formats/formats.h"

namespace strata::replay {
namespace {

using PastJson = nlohmann::json;

constexpr std::int64_t kMaxGpusOfJob = 1'000'000;  // of one job
constexpr std::int64_t kMaxAmount = std::int64_t{1} << 50U;
constexpr std::int64_t kMaxPods = 1'000'000;

// What one pod asks for.
struct PodAsk {
  std::int64_t gpus = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;
};

// A job that is over, or may be.
struct PastJob {
  std::string name;
  std::string queue;
  std::string user;
  std::string status;
  std::vector<std::pair<PodAsk, std::int64_t>> pods;  // and how many of them
  std::optional<Millis> submit, start, end;
  Wish wish = Wish::kUnsaid;
  std::string tier;
};

std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

std::string NameOf(const PastJson& object) {
  const std::string& ns = TextAt(object, {"metadata", "namespace"});
  const std::string& name = TextAt(object, {"metadata", "name"});
  if (name.empty()) return "";
  return OneLine(ns.empty() ? "default/" + name : ns + "/" + name);
}

std::optional<Millis> MomentAt(const PastJson& object, KeyPath path) {
  return ParseMoment(TextAt(object, path));
}

void Earliest(std::optional<Millis>& known, std::optional<Millis> time) {
  if (time && (!known || *time < *known)) known = time;
}
void Latest(std::optional<Millis>& known, std::optional<Millis> time) {
  if (time && (!known || *time > *known)) known = time;
}

bool IsGpu(std::string_view resource) {
  return resource.ends_with("/gpu") || resource == "volcano.sh/vgpu-number";
}

// An amount as JSON has it: "500m", or a number.
std::int64_t AmountIn(const PastJson& value, bool milli) {
  std::string text;
  if (value.is_string()) text = value.get<std::string>();
  if (value.is_number_integer()) text = std::to_string(value.get<std::int64_t>());
  const auto quantity = Quantity::Parse(text);
  if (!quantity) return 0;
  const auto amount = milli ? quantity->Milli() : quantity->Value();
  return amount ? std::clamp<std::int64_t>(*amount, 0, kMaxAmount) : 0;
}

// Limits where there are no requests, as Kubernetes takes them.
PodAsk AskOf(const PastJson& pod_spec) {
  PodAsk ask;
  for (const PastJson& container : ListAt(pod_spec, {"containers"})) {
    std::map<std::string, const PastJson*> amounts;
    for (const char* list : {"requests", "limits"}) {
      for (const auto& [name, value] : ObjectAt(container, {"resources", list}).items()) {
        amounts.emplace(name, &value);
      }
    }
    for (const auto& [name, value] : amounts) {
      if (IsGpu(name)) ask.gpus = std::min(ask.gpus + AmountIn(*value, false), kMaxGpusOfJob);
      if (name == "cpu") {
        ask.cpu_milli = std::min(ask.cpu_milli + AmountIn(*value, true), kMaxAmount);
      }
      if (name == "memory") ask.memory = std::min(ask.memory + AmountIn(*value, false), kMaxAmount);
    }
  }
  return ask;
}

// The pods of a job as a gang: those with GPUs where any has some. All of one size but one that is
// smaller; where they differ otherwise, their GPUs by the gang rule.
void ShapeGang(const PastJob& past, Reading& reading, TraceJob& job) {
  std::int64_t most = 0;
  for (const auto& [ask, count] : past.pods) most = std::max(most, count > 0 ? ask.gpus : 0);
  std::int64_t pods = 0;
  std::int64_t gpus = 0;
  for (const auto& [ask, count] : past.pods) {
    if (most > 0 && ask.gpus == 0) continue;
    pods = std::min(pods + count, kMaxPods);
    gpus = std::min(gpus + ask.gpus * count, kMaxGpusOfJob);
    job.cpu_milli = std::max(job.cpu_milli, ask.cpu_milli);
    job.memory = std::max(job.memory, ask.memory);
  }
  const std::int64_t last = gpus - most * (pods - 1);
  if (pods >= 1 && (most == 0 || (last >= 1 && last <= most))) {
    job.pods = static_cast<std::int32_t>(pods);
    job.gpus = static_cast<std::int32_t>(most);
    job.last_gpus = static_cast<std::int32_t>(most == 0 ? 0 : last);
    return;
  }
  MakeGang(static_cast<std::int32_t>(gpus), reading, job);
}

// One that did not run, or still does, is counted and left out.
void AddPast(const PastJob& past, Reading& reading) {
  std::int64_t pods = 0;
  for (const auto& [ask, count] : past.pods) pods = std::min(pods + count, kMaxPods);
  const std::optional<Millis> submit = past.submit ? past.submit : past.start;
  if (past.name.empty() || !submit || !past.start || !past.end || *past.end < *past.start ||
      pods < 1) {
    ++reading.trace.left_out;
    return;
  }
  TraceJob job;
  job.name = past.name;
  job.submit = *submit;
  job.duration = *past.end - *past.start;
  ShapeGang(past, reading, job);
  job.queue = past.queue.empty() ? "default" : OneLine(past.queue);
  job.user = OneLine(past.user);
  job.status = OneLine(past.status);
  job.wish = past.wish;
  job.tier = OneLine(past.tier);
  reading.dated.push_back(reading.trace.jobs.size());
  reading.trace.jobs.push_back(std::move(job));
}

// ---- objects of Kubernetes ----

class PastOfObjects {
 public:
  explicit PastOfObjects(Reading& reading) : reading_(reading) {}

  void Read(const PastJson& items) {
    for (const PastJson& item : items) {
      if (TextAt(item, {"kind"}) == "Event") ReadEvent(item);
      if (IsVolcanoJob(item) || IsBatchJob(item)) jobs_.insert(NameOf(item));
    }
    for (const PastJson& item : items) {
      if (IsVolcanoJob(item)) AddPast(VolcanoJob(item), reading_);
      if (IsBatchJob(item)) AddPast(BatchJob(item), reading_);
      if (TextAt(item, {"kind"}) == "Pod") ReadPod(item);
    }
    for (const auto& [name, past] : groups_) AddPast(past, reading_);
  }

 private:
  static bool IsVolcanoJob(const PastJson& item) {
    return TextAt(item, {"kind"}) == "Job" &&
           TextAt(item, {"apiVersion"}).starts_with("batch.volcano.sh/");
  }
  static bool IsBatchJob(const PastJson& item) {
    return TextAt(item, {"kind"}) == "Job" && TextAt(item, {"apiVersion"}).starts_with("batch/");
  }

  // When pods and gangs were placed: for jobs whose conditions do not say when they ran.
  void ReadEvent(const PastJson& event) {
    if (TextAt(event, {"reason"}) != "Scheduled") return;
    const PastJson& about = ObjectAt(event, {"involvedObject"});
    const std::string name = TextAt(about, {"namespace"}) + "/" + TextAt(about, {"name"});
    std::optional<Millis>& known = placed_[name];
    Earliest(known, MomentAt(event, {"eventTime"}));
    Earliest(known, MomentAt(event, {"firstTimestamp"}));
  }

  // The first event about the job's PodGroup ("train-<uid>") or a pod of it ("train-worker-0").
  [[nodiscard]] std::optional<Millis> PlacedOf(const std::string& job) const {
    std::optional<Millis> first;
    for (auto it = placed_.lower_bound(job); it != placed_.end(); ++it) {
      if (!it->first.starts_with(job)) break;
      const bool own = it->first.size() == job.size() || it->first[job.size()] == '-';
      if (own) Earliest(first, it->second);
    }
    return first;
  }

  [[nodiscard]] PastJob VolcanoJob(const PastJson& item) const {
    PastJob past;
    past.name = NameOf(item);
    past.user = TextAt(item, {"metadata", "namespace"});
    past.queue = TextAt(item, {"spec", "queue"});
    past.submit = MomentAt(item, {"metadata", "creationTimestamp"});
    past.status = TextAt(item, {"status", "state", "phase"});
    const auto is_over = [](std::string_view phase) {
      return phase == "Completed" || phase == "Failed" || phase == "Terminated" ||
             phase == "Aborted";
    };
    for (const PastJson& condition : ListAt(item, {"status", "conditions"})) {
      const std::string& phase = TextAt(condition, {"status"});
      const auto at = MomentAt(condition, {"lastTransitionTime"});
      if (phase == "Running") Earliest(past.start, at);
      if (is_over(phase)) Latest(past.end, at);
    }
    if (!past.end) past.end = MomentAt(item, {"status", "state", "lastTransitionTime"});
    if (!is_over(past.status)) past.end.reset();
    if (!past.start) past.start = PlacedOf(past.name);
    for (const PastJson& task : ListAt(item, {"spec", "tasks"})) {
      const std::int64_t count =
          std::clamp<std::int64_t>(IntegerAt(task, {"replicas"}, 1), 0, kMaxPods);
      past.pods.emplace_back(AskOf(ObjectAt(task, {"template", "spec"})), count);
    }
    const std::string& mode = TextAt(item, {"spec", "networkTopology", "mode"});
    if (mode == "soft") past.wish = Wish::kSoft;
    if (mode == "hard") {
      past.tier = TextAt(item, {"spec", "networkTopology", "highestTierName"});
      const std::int64_t tier =
          IntegerAt(item, {"spec", "networkTopology", "highestTierAllowed"}, 0);
      if (past.tier.empty() && tier > 0) past.tier = std::to_string(tier);
      if (!past.tier.empty()) past.wish = Wish::kHard;
    }
    return past;
  }

  [[nodiscard]] PastJob BatchJob(const PastJson& item) const {
    PastJob past;
    past.name = NameOf(item);
    if (!past.name.empty()) past.name = "job/" + past.name;
    past.user = TextAt(item, {"metadata", "namespace"});
    past.submit = MomentAt(item, {"metadata", "creationTimestamp"});
    past.start = MomentAt(item, {"status", "startTime"});
    past.end = MomentAt(item, {"status", "completionTime"});
    for (const PastJson& condition : ListAt(item, {"status", "conditions"})) {
      if (TextAt(condition, {"status"}) != "True") continue;
      const std::string& type = TextAt(condition, {"type"});
      if (type != "Complete" && type != "Failed") continue;
      past.status = type;
      if (!past.end) past.end = MomentAt(condition, {"lastTransitionTime"});
    }
    const std::int64_t count =
        std::clamp<std::int64_t>(IntegerAt(item, {"spec", "parallelism"}, 1), 0, kMaxPods);
    past.pods.emplace_back(AskOf(ObjectAt(item, {"spec", "template", "spec"})), count);
    return past;
  }

  // A pod of none of the jobs, by itself or in its PodGroup.
  void ReadPod(const PastJson& pod) {
    const std::string& ns = TextAt(pod, {"metadata", "namespace"});
    for (const PastJson& owner : ListAt(pod, {"metadata", "ownerReferences"})) {
      if (jobs_.contains((ns.empty() ? "default" : ns) + "/" + TextAt(owner, {"name"}))) return;
    }
    const std::string& group =
        TextAt(pod, {"metadata", "annotations", "scheduling.k8s.io/group-name"});
    const std::string own = NameOf(pod);
    if (own.empty()) return;
    const std::string name = group.empty()
                                 ? "pod/" + own
                                 : OneLine("group/" + (ns.empty() ? "default" : ns) + "/" + group);
    PastJob& past = groups_[name];
    past.name = name;
    past.user = ns;
    if (past.status.empty()) past.status = TextAt(pod, {"status", "phase"});
    past.pods.emplace_back(AskOf(ObjectAt(pod, {"spec"})), 1);
    Earliest(past.submit, MomentAt(pod, {"metadata", "creationTimestamp"}));
    Latest(past.start, MomentAt(pod, {"status", "startTime"}));
    Latest(past.end, EndOf(pod));
  }

  // When its last container ended; none while one runs.
  static std::optional<Millis> EndOf(const PastJson& pod) {
    const std::string& phase = TextAt(pod, {"status", "phase"});
    std::optional<Millis> end;
    if (phase != "Succeeded" && phase != "Failed") return end;
    for (const PastJson& container : ListAt(pod, {"status", "containerStatuses"})) {
      Latest(end, MomentAt(container, {"state", "terminated", "finishedAt"}));
    }
    return end;
  }

  Reading& reading_;
  std::set<std::string, std::less<>> jobs_;
  std::map<std::string, std::optional<Millis>> placed_;
  std::map<std::string, PastJob> groups_;
};

// ---- series of kube-state-metrics ----

struct PastPod {
  std::string ns;
  std::string owner;
  PodAsk ask;
  std::optional<Millis> created, start, end;
};

// The last value of a series, as Prometheus writes it: [1700000000, "12"].
std::optional<double> LastValue(const PastJson& series) {
  const PastJson* value = FindAt(series, {"value"});
  const PastJson& values = ListAt(series, {"values"});
  if (value == nullptr && !values.empty()) value = &values.back();
  if (value == nullptr || !value->is_array() || value->size() != 2 || !(*value)[1].is_string()) {
    return std::nullopt;
  }
  const std::string text = (*value)[1].get<std::string>();
  // Numbers of seconds, bytes and pieces: decimal, or 1.7e+09.
  const auto quantity = Quantity::Parse(text);
  if (!quantity) return std::nullopt;
  const auto milli = quantity->Milli();
  if (!milli || *milli < 0) return std::nullopt;
  return static_cast<double>(*milli) / 1000;
}

std::optional<Millis> ToMoment(double seconds) {
  constexpr double kMax = 1e10;
  if (seconds < 0 || seconds > kMax) return std::nullopt;
  return static_cast<Millis>(seconds * 1000);
}

std::int64_t ToAmount(double value) {
  return static_cast<std::int64_t>(std::clamp(value, 0.0, static_cast<double>(kMaxAmount)));
}

void ReadSeries(const PastJson& series, std::map<std::string, PastPod>& pods) {
  const PastJson& labels = ObjectAt(series, {"metric"});
  const std::string& name = TextAt(labels, {"__name__"});
  const std::string& pod_name = TextAt(labels, {"pod"});
  const auto value = LastValue(series);
  if (pod_name.empty() || !value) return;
  PastPod& pod = pods[OneLine(TextAt(labels, {"namespace"}) + "/" + pod_name)];
  pod.ns = OneLine(TextAt(labels, {"namespace"}));
  if (name == "kube_pod_created") Earliest(pod.created, ToMoment(*value));
  if (name == "kube_pod_start_time") Earliest(pod.start, ToMoment(*value));
  if (name == "kube_pod_completion_time") Latest(pod.end, ToMoment(*value));
  if (name == "kube_pod_owner" && TextAt(labels, {"owner_kind"}) != "Node") {
    pod.owner = OneLine(TextAt(labels, {"owner_name"}));
  }
  if (name != "kube_pod_container_resource_requests") return;
  const std::string& resource = TextAt(labels, {"resource"});
  std::int64_t PodAsk::*part = nullptr;
  if (resource == "cpu") part = &PodAsk::cpu_milli;
  if (resource == "memory") part = &PodAsk::memory;
  if (resource.ends_with("_gpu") || resource.ends_with("vgpu_number")) part = &PodAsk::gpus;
  if (part == nullptr) return;
  const std::int64_t amount = ToAmount(resource == "cpu" ? *value * 1000 : *value);
  const std::int64_t most = part == &PodAsk::gpus ? kMaxGpusOfJob : kMaxAmount;
  pod.ask.*part = std::min(pod.ask.*part + amount, most);
}

void AddGangs(const std::map<std::string, PastPod>& pods, Reading& reading) {
  std::map<std::string, PastJob> jobs;
  std::set<std::string> running;
  for (const auto& [name, pod] : pods) {
    const std::string job = pod.owner.empty() ? name : pod.ns + "/" + pod.owner;
    PastJob& past = jobs[job];
    past.name = job;
    past.user = pod.ns;
    past.pods.emplace_back(pod.ask, 1);
    Earliest(past.submit, pod.created);
    Latest(past.start, pod.start);
    Latest(past.end, pod.end);
    if (!pod.end) running.insert(job);
  }
  for (auto& [name, past] : jobs) {
    if (running.contains(name)) past.end.reset();
    AddPast(past, reading);
  }
}

Result<PastJson> ParseDocument(const TraceText& file) {
  auto parsed = ParseJson(file.text);
  if (!parsed) return tl::unexpected<Error>(std::move(parsed.error()).Context(file.path));
  return std::move(*parsed);
}

tl::unexpected<Error> WantList(const TraceText& file, const char* wanted) {
  return Fail(Code::kInvalidArgument, fmt::format("{}: want {}", file.path, wanted));
}

}  // namespace

Status ReadKubernetes(const TraceText& file, Reading& reading) {
  TRY_ASSIGN(const PastJson root, ParseDocument(file));
  const PastJson* items = FindAt(root, {"items"});
  if (items == nullptr || !items->is_array()) {
    return WantList(file, "a List of objects, as strata snapshot or kubectl get -o json writes it");
  }
  PastOfObjects(reading).Read(*items);
  return {};
}

Status ReadPrometheus(const TraceText& file, Reading& reading) {
  TRY_ASSIGN(const PastJson root, ParseDocument(file));
  const PastJson* result = FindAt(root, {"data", "result"});
  if (result == nullptr || !result->is_array()) {
    return WantList(file, "data.result, as Prometheus answers /api/v1/query");
  }
  std::map<std::string, PastPod> pods;
  for (const PastJson& series : *result) ReadSeries(series, pods);
  AddGangs(pods, reading);
  return {};
}

}  // namespace strata::replay
