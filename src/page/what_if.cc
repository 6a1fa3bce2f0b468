#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/manifest_judge.h"
#include "base/timestamp.h"
#include "convert/specs.h"
#include "explain/render_explain.h"
#include "explain/subject.h"
#include "json/dump.h"
#include "json/parse.h"
#include "objects/load.h"
#include "objects/sort_by_name.h"
#include "page/story_json.h"
#include "report/topology_report.h"

namespace strata::page {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::int64_t kMaxPods = 10000;
constexpr const char* kNameOfShape = "what-if";

tl::unexpected<Error> Invalid(std::string message) {
  return Fail(Code::kInvalidArgument, std::move(message));
}

Result<std::string> TextOf(const nlohmann::json& body, const char* key, const char* usual) {
  const auto found = body.find(key);
  if (found == body.end()) return std::string(usual);
  if (!found->is_string()) return Invalid(fmt::format("{}: want a text", key));
  return found->get<std::string>();
}

Result<std::int64_t> CountOf(const nlohmann::json& body, const char* key, std::int64_t most) {
  const auto found = body.find(key);
  if (found != body.end() && found->is_number_integer()) {
    const auto count = found->get<std::int64_t>();
    if (count >= 1 && count <= most) return count;
  }
  return Invalid(fmt::format("{}: want a whole number from 1 to {}", key, most));
}

// The Job that a person would write for the shape.
Result<std::string> ManifestOf(const nlohmann::json& body) {
  TRY_ASSIGN(const std::int64_t pods, CountOf(body, "pods", kMaxPods));
  TRY_ASSIGN(const std::string shape, TextOf(body, "pod", ""));
  TRY_ASSIGN(const std::string mode, TextOf(body, "mode", ""));
  TRY_ASSIGN(const std::string queue, TextOf(body, "queue", "default"));
  TRY_ASSIGN(const std::string ns, TextOf(body, "namespace", "default"));
  TRY_ASSIGN(const objects::ResourceList each, ParsePodShape(shape));
  OrderedJson amounts = OrderedJson::object();
  for (const auto& [name, quantity] : each) amounts[name] = quantity.ToString();
  OrderedJson spec = {{"schedulerName", "volcano"},
                      {"queue", queue},
                      {"minAvailable", pods},
                      {"tasks", OrderedJson::array()}};
  if (!mode.empty()) {
    spec["networkTopology"] = {{"mode", mode}};
    if (body.contains("highestTierAllowed")) {
      TRY_ASSIGN(spec["networkTopology"]["highestTierAllowed"],
                 CountOf(body, "highestTierAllowed", 1000));
    }
  }
  spec["tasks"].push_back(
      {{"name", "pod"},
       {"replicas", pods},
       {"template",
        {{"spec",
          {{"restartPolicy", "Never"},
           {"containers",
            {{{"name", "main"},
              {"image", "none"},
              {"resources", {{"requests", amounts}, {"limits", amounts}}}}}}}}}}});
  const OrderedJson job = {{"apiVersion", "batch.volcano.sh/v1alpha1"},
                           {"kind", "Job"},
                           {"metadata", {{"name", kNameOfShape}, {"namespace", ns}}},
                           {"spec", std::move(spec)}};
  return DumpJson(job);
}

// Jobs, PodGroups and pods: what a person submits.
Status CheckKinds(const objects::ObjectSet& added) {
  std::string other;
  objects::ForEachList(added, [&](std::string_view kind, const auto& list) {
    if (list.empty() || kind == "Job" || kind == "PodGroup" || kind == "Pod") return;
    other = kind;
  });
  if (!other.empty()) {
    return Invalid(fmt::format("yaml: want Jobs, PodGroups and Pods, not {}", other));
  }
  if (added.jobs.empty() && added.pods.empty()) {
    return Invalid("yaml: want at least one Job or Pod");
  }
  std::int64_t pods = static_cast<std::int64_t>(added.pods.size());
  for (const objects::Job& job : added.jobs) {
    for (const objects::JobTask& task : job.tasks) pods += task.replicas;
  }
  if (pods <= kMaxPods) return {};
  return Invalid(fmt::format("{} pods: want at most {}", pods, kMaxPods));
}

template <typename T>
Status Merge(std::vector<T> added, std::vector<T>& out) {
  for (T& object : added) {
    const auto same = [&](const T& other) {
      return other.meta.ns == object.meta.ns && other.meta.name == object.meta.name;
    };
    if (std::any_of(out.begin(), out.end(), same)) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{} is there already", objects::NamespacedName(object.meta)));
    }
    out.push_back(std::move(object));
  }
  objects::SortByName(out);
  return {};
}

// Hears what is said about the job.
class JobLog final : public CycleTrace {
 public:
  explicit JobLog(std::string job) : job_(std::move(job)) {}

  void BeginCycle(std::int32_t cycle) override { log_.BeginCycle(cycle); }
  void Record(TraceRecord record) override {
    const bool ours = std::visit([&](const auto& one) { return one.job == job_; }, record);
    if (ours) log_.Record(std::move(record));
  }
  [[nodiscard]] bool WantsNodes() const override { return false; }
  [[nodiscard]] const TraceLog& log() const { return log_; }

 private:
  const std::string job_;
  TraceLog log_;
};

OrderedJson JobJson(const RunResult::Job& job) {
  return {{"phase", job.phase},
          {"allocatedHyperNode", job.allocated_hypernode},
          {"tier", job.tier},
          {"reason", job.reason},
          {"message", job.message}};
}

// What of the result is about the groups.
OrderedJson ResultJson(const RunResult& result,
                       const objects::ObjectSet& objects,
                       const std::set<std::string>& groups) {
  OrderedJson json = {{"jobs", OrderedJson::object()},
                      {"binds", OrderedJson::object()},
                      {"pipelined", OrderedJson::object()},
                      {"devices", OrderedJson::object()}};
  for (const std::string& group : groups) {
    const auto found = result.jobs.find(group);
    if (found != result.jobs.end()) json["jobs"][group] = JobJson(found->second);
  }
  for (const objects::Pod& pod : objects.pods) {
    if (!groups.contains(GroupOf(pod))) continue;
    const std::string name = objects::NamespacedName(pod.meta);
    if (const auto bind = result.binds.find(name); bind != result.binds.end()) {
      json["binds"][name] = bind->second;
    }
    if (const auto bind = result.pipelined.find(name); bind != result.pipelined.end()) {
      json["pipelined"][name] = bind->second;
    }
    const auto devices = result.devices.find(name);
    if (devices != result.devices.end()) json["devices"][name] = devices->second;
  }
  return json;
}

std::set<std::string> NamesOf(const std::vector<objects::PodGroup>& groups) {
  std::set<std::string> names;
  for (const objects::PodGroup& group : groups) names.insert(objects::NamespacedName(group.meta));
  return names;
}

}  // namespace

Result<WhatIfRequest> ReadWhatIf(std::string_view body) {
  TRY_ASSIGN(const nlohmann::json json, ParseJson(body));
  if (!json.is_object()) return Invalid("want a JSON object");
  TRY_ASSIGN(std::string text, TextOf(json, "yaml", ""));
  if (text.empty()) {
    TRY_ASSIGN(text, ManifestOf(json));
  }
  const objects::Source source{"what-if", std::move(text)};
  WhatIfRequest request;
  TRY_ASSIGN(
      request.added,
      objects::ParseManifests({&source, 1}, admission::JudgeManifest, objects::OnFault::kFail));
  TRY(CheckKinds(request.added));
  request.job = request.added.jobs.empty()
                    ? objects::NamespacedName(request.added.pods.front().meta)
                    : objects::NamespacedName(request.added.jobs.front().meta);
  return request;
}

Result<std::string> TellWhatIf(const StoryCase& now, const WhatIfRequest& request) {
  objects::ObjectSet objects = now.raw();
  const std::set<std::string> before = NamesOf(objects.pod_groups);
  TRY(Merge(request.added.jobs, objects.jobs));
  TRY(Merge(request.added.pod_groups, objects.pod_groups));
  TRY(Merge(request.added.pods, objects.pods));
  TRY_ASSIGN(const CompletedObjects completed, CompleteObjects(std::move(objects), now.takes()));
  const Subject subject = [&] {
    auto found = FindSubject(completed, request.job);
    return found ? *std::move(found) : Subject{};
  }();
  std::set<std::string> groups = NamesOf(completed.objects.pod_groups);
  std::erase_if(groups, [&](const std::string& name) {
    return before.contains(name) || completed.made_groups.contains(name);
  });
  groups.insert(subject.groups.begin(), subject.groups.end());
  if (groups.empty()) return Fail(Code::kInvalidArgument, "there is nothing to schedule");
  const std::string job = subject.groups.empty() ? *groups.begin() : subject.groups.front();
  JobLog log(job);
  RunOptions options;
  options.now = now.now();
  options.trace = &log;
  options.explain_only = job;
  TRY_ASSIGN(LoadedCluster cluster, LoadCompleted(completed));
  TRY_ASSIGN(const RunResult result, RunCycles(cluster, now.config(), options));
  OrderedJson json = ResultJson(result, completed.objects, groups);
  json["job"] = job;
  if (result.jobs.contains(job)) {
    json["story"] = ParseOrderedJsonOrNull(RenderJson(strata::TellStory(result, log.log(), job)));
  }
  json["asOf"] = FormatTimestamp(now.now());
  return DumpJson(json) + "\n";
}

}  // namespace strata::page
