#include "tests/histories/call_table.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "json/access.h"
#include "tests/histories/paths.h"

namespace strata::histories {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Way = Fate::Way;

constexpr Duration kLook = seconds(1);
// A watch that falls silent is noticed after two minutes, and there are pauses between attempts.
constexpr Duration kPatience = seconds(340);

// As CallCase has it.
std::string CallOf(std::string_view process, const net::HttpRequest& request) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : request.path.substr(1) + "/") {
    if (c != '/') {
      part += c;
      continue;
    }
    parts.push_back(std::exchange(part, ""));
  }
  std::size_t at = parts[0] == "api" ? 2 : 3;
  if (parts[at] == "namespaces" && parts.size() > at + 2) at += 2;
  const bool whole = parts.size() == at + 1;
  const char* how = "";
  if (request.method == "GET" && whole) {
    how = request.query.find("watch=") != std::string::npos ? " watch" : " list";
  }
  return fmt::format("{} {} {}{}{}",
                     process.substr(0, process.find('-')),
                     request.method,
                     parts[at],
                     parts.size() > at + 2 ? "/" + parts[at + 2] : "",
                     how);
}

constexpr std::array<std::string_view, 8> kTroubleNames = {
    "cut", "lost answer", "409", "410", "429", "500", "503", "late"};

Fate FateOf(Trouble trouble, const net::HttpRequest& request) {
  const bool is_watch = request.query.find("watch=") != std::string::npos;
  switch (trouble) {
    case Trouble::kCut:
      if (is_watch) return {.stream_life = seconds(2)};
      return {.way = Way::kCut};
    case Trouble::kLostAnswer:
      return {.way = Way::kLostAnswer};
    case Trouble::k409:
      return {.way = Way::kRefused, .status = 409};
    case Trouble::k410:
      if (is_watch) return {.stream_life = seconds(2), .ending = Fate::Ending::kExpired};
      return {.way = Way::kRefused, .status = 410};
    case Trouble::k429:
      return {.way = Way::kRefused, .status = 429, .retry_after = 3};
    case Trouble::k500:
      return {.way = Way::kRefused, .status = 500};
    case Trouble::k503:
      return {.way = Way::kRefused, .status = 503};
    case Trouble::kLate:
      if (is_watch) return {.stream_life = seconds(1), .ending = Fate::Ending::kSilence};
      return {.way = Way::kLateEffect, .request_delay = seconds(20)};
  }
  return {};
}

}  // namespace

std::string CallCase::Text() const {
  return fmt::format("{}: {}, the leader {}",
                     call,
                     kTroubleNames[static_cast<std::size_t>(trouble)],
                     leader == Leader::kStays ? "stays" : "changes");
}

CalledCluster::CalledCluster(std::vector<CallCase> cases) : cases_(std::move(cases)) {
  faults_.Follow([this](std::string_view process, const net::HttpRequest& request) {
    return Meet(process, request);
  });
  for (const PartKind& kind : {SchedulerKind(), ControllersKind()}) {
    for (int i = 0; i < 2; ++i) {
      auto process = std::make_unique<Process>(world_, kind, i, random_.Split());
      process->Calm();
      processes_.emplace(fmt::format("{}-{}", kind.name, i), std::move(process));
    }
    AddLease(kind.lease);
  }
  for (auto& [name, process] : processes_) process->Start();
}

CalledCluster::~CalledCluster() = default;

std::string CalledCluster::Run(const std::optional<std::string>& wanted) {
  const Duration limit = wanted ? QuietTime() + kPatience : QuietTime();
  const net::SteadyTime end = timeline_.now() + limit;
  std::string state;
  while (timeline_.now() < end && !(wanted && state == *wanted && MetAll())) {
    timeline_.RunUntil(timeline_.now() + kLook);
    state = State();
  }
  return state;
}

Fate CalledCluster::Meet(std::string_view process, const net::HttpRequest& request) {
  const std::string call = CallOf(process, request);
  calls_.insert(call);
  if (MetAll() || cases_[met_].call != call) return {};
  const CallCase& now = cases_[met_++];
  trace_.Say(process, now.Text());
  if (now.leader == Leader::kChanges) {
    timeline_.After(milliseconds(3),
                    [this, name = std::string(process)] { processes_.at(name)->Kill(); });
  }
  return FateOf(now.trouble, request);
}

void CalledCluster::Create(const std::string& path, const json& object) {
  CHECK(server_.Ask("POST", path, object) == 201);
}

void CalledCluster::AddLease(const std::string& name) {
  json lease = {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
  lease["metadata"]["name"] = name;
  lease["spec"] = {{"holderIdentity", ""}, {"leaseDurationSeconds", 1}, {"leaseTransitions", 1}};
  Create(kLeases, lease);
}

void CalledCluster::AddNode(const std::string& name,
                            const json& allocatable,
                            const json& annotations) {
  json node = {{"apiVersion", "v1"}, {"kind", "Node"}};
  node["metadata"]["name"] = name;
  node["metadata"]["annotations"] = annotations;
  node["status"]["allocatable"] = allocatable;
  Create("/api/v1/nodes", node);
  server_.Ask("PATCH", "/api/v1/nodes/" + name, {{"spec", {{"taints", nullptr}}}});
}

void CalledCluster::CreateJob(const std::string& name,
                              int pods,
                              int cpus,
                              const std::string& priority) {
  json job = {{"apiVersion", "batch.volcano.sh/v1alpha1"}, {"kind", "Job"}};
  job["metadata"]["name"] = name;
  job["spec"] = {{"minAvailable", pods}, {"schedulerName", "volcano"}, {"queue", "default"}};
  if (!priority.empty()) job["spec"]["priorityClassName"] = priority;
  job["spec"]["tasks"] = {{{"name", "w"}, {"replicas", pods}, {"template", PodOf(cpus)}}};
  Create(kJobs, job);
}

void CalledCluster::CreateGang(const std::string& name,
                               int pods,
                               json pod,
                               const std::string& priority) {
  json group = {{"apiVersion", "scheduling.volcano.sh/v1beta1"}, {"kind", "PodGroup"}};
  group["metadata"]["name"] = name;
  group["spec"]["minMember"] = pods;
  if (!priority.empty()) group["spec"]["priorityClassName"] = priority;
  Create(kGroups, group);
  for (int i = 0; i < pods; ++i) {
    pod["metadata"]["name"] = fmt::format("{}-{}", name, i);
    pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = name;
    Create(kPods, pod);
  }
}

json CalledCluster::PodOf(int cpus) {
  json container = {{"name", "c"}, {"image", "busybox"}};
  container["resources"]["requests"]["cpu"] = std::to_string(cpus);
  json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
  pod["spec"]["schedulerName"] = "volcano";
  pod["spec"]["containers"] = json::array({container});
  return pod;
}

void CalledCluster::SetRunning(const std::string& pod) {
  server_.Ask(
      "PATCH", fmt::format("{}/{}/status", kPods, pod), {{"status", {{"phase", "Running"}}}});
}

std::string CalledCluster::StateOfGroups() {
  std::multiset<std::string> groups;  // names have uids in them
  const json all_groups = server_.Get(kGroups);
  for (const json& group : ListAt(all_groups, {"items"})) {
    const std::string& name = TextAt(group, {"metadata", "name"});
    groups.insert(fmt::format("group {} {} of {}\n",
                              name.substr(0, name.find('-')),
                              TextAt(group, {"status", "phase"}),
                              IntegerAt(group, {"spec", "minMember"})));
  }
  std::string text;
  for (const std::string& group : groups) text += group;
  return text;
}

std::string CalledCluster::StateOfJobs() {
  std::string text;
  const json jobs = server_.Get(kJobs);
  for (const json& job : ListAt(jobs, {"items"})) {
    text += fmt::format("job {} {} {}\n",
                        TextAt(job, {"metadata", "name"}),
                        TextAt(job, {"status", "state", "phase"}),
                        IntegerAt(job, {"status", "running"}));
  }
  return text;
}

CallTable::CallTable(Make make, Choice chooses)
    : make_(std::move(make)), chooses_(std::move(chooses)) {
  const std::unique_ptr<CalledCluster> quiet = make_({});
  wanted_ = quiet->Run(std::nullopt);
  Add(*quiet, {});
}

void CallTable::Add(const CalledCluster& cluster, const std::vector<CallCase>& before) {
  for (const std::string& call : cluster.calls()) {
    if (chooses_(call)) table_.try_emplace(call, before);
  }
}

void CallTable::RunAll() {
  int runs = 0;
  int cases = 0;
  std::set<std::string> done;
  while (done.size() < table_.size()) {
    for (const auto& [call, before] : std::map(table_)) {
      if (!done.insert(call).second) continue;
      for (std::size_t trouble = 0; trouble < kTroubleNames.size(); ++trouble) {
        for (const Leader leader : {Leader::kStays, Leader::kChanges}) {
          if (cases++ % STRATA_EVERY != 0) continue;
          RunOne(before, {call, static_cast<Trouble>(trouble), leader});
          ++runs;
        }
      }
    }
  }
  std::string calls;
  for (const auto& [call, before] : table_) {
    calls +=
        fmt::format("\n  {}{}", call, before.empty() ? "" : " (after: " + before[0].Text() + ")");
  }
  fmt::print("{} calls, {} runs:{}\n", table_.size(), runs, calls);
}

void CallTable::RunOne(std::vector<CallCase> cases, CallCase last) {
  cases.push_back(std::move(last));
  const std::unique_ptr<CalledCluster> cluster = make_(cases);
  const std::string state = cluster->Run(wanted_);
  std::string text;
  for (const CallCase& one : cases) text += one.Text() + "; ";
  EXPECT_EQ(state, wanted_) << text << "\n" << cluster->trace();
  EXPECT_TRUE(cluster->MetAll()) << text;
  // The trouble of one call may come before another gets that far.
  if (cases.size() == 1) Add(*cluster, cases);
}

}  // namespace strata::histories
