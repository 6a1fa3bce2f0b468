// Every call that the schedulers and the controllers make meets every fault once, with a leader
// that stays and with one that is killed: the cluster ends up as without any fault.
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "json/access.h"
#include "tests/histories/paths.h"
#include "tests/histories/process.h"

namespace strata::histories {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Way = Fate::Way;

constexpr const char* kGpuNode = "/api/v1/nodes/gpus";
constexpr const char* kQueue = "/apis/scheduling.volcano.sh/v1beta1/queues/default";
constexpr Duration kLook = seconds(1);
// A watch that falls silent is noticed after two minutes, and there are pauses between attempts.
constexpr Duration kLongest = seconds(400);

// "scheduler POST pods/binding", "controllers GET jobs watch".
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

enum class Trouble : std::uint8_t { kCut, kLostAnswer, k409, k410, k429, k500, k503, kLate };
constexpr std::array kTroubles = {Trouble::kCut,
                                  Trouble::kLostAnswer,
                                  Trouble::k409,
                                  Trouble::k410,
                                  Trouble::k429,
                                  Trouble::k500,
                                  Trouble::k503,
                                  Trouble::kLate};
constexpr std::array<std::string_view, kTroubles.size()> kTroubleNames = {
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

enum class Leader : std::uint8_t { kStays, kChanges };

// The first call of that kind meets that trouble.
struct Case {
  std::string call;
  Trouble trouble = Trouble::kCut;
  Leader leader = Leader::kStays;

  [[nodiscard]] std::string Text() const {
    return fmt::format("{}: {}, the leader {}",
                       call,
                       kTroubleNames[static_cast<std::size_t>(trouble)],
                       leader == Leader::kStays ? "stays" : "changes");
  }
};

// A Job, a gang of plain pods, a gang with GPUs on a node of HAMi's agent, a pod alone, and some
// that fit nowhere, with two schedulers and two processes of controllers.
class Cluster {
 public:
  explicit Cluster(std::vector<Case> cases) : cases_(std::move(cases)) {
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
    for (const char* node : {"node-0", "node-1"}) AddNode(node);
    AddGpuNode();
    for (auto& [name, process] : processes_) process->Start();
    timeline_.After(seconds(5), [this] { CreateAll(); });
  }

  // Runs until the cluster is as `wanted` says; the state in which it ends up.
  std::string Run(const std::optional<std::string>& wanted) {
    const net::SteadyTime end = timeline_.now() + (wanted ? kLongest : seconds(60));
    std::string state;
    while (timeline_.now() < end && !(wanted && state == *wanted && met_ == cases_.size())) {
      timeline_.RunUntil(timeline_.now() + kLook);
      state = State();
    }
    return state;
  }

  void RunFor(Duration time) { timeline_.RunUntil(timeline_.now() + time); }
  [[nodiscard]] Server& server() { return server_; }
  [[nodiscard]] Process& process(const std::string& name) { return *processes_.at(name); }

  [[nodiscard]] const std::set<std::string>& calls() const { return calls_; }
  [[nodiscard]] bool MetAll() const { return met_ == cases_.size(); }
  [[nodiscard]] const std::string& trace() const { return trace_.text(); }

 private:
  Fate Meet(std::string_view process, const net::HttpRequest& request) {
    const std::string call = CallOf(process, request);
    calls_.insert(call);
    if (met_ == cases_.size() || cases_[met_].call != call) return {};
    const Case& now = cases_[met_++];
    trace_.Say(process, now.Text());
    if (now.leader == Leader::kChanges) {
      timeline_.After(milliseconds(3),
                      [this, name = std::string(process)] { processes_.at(name)->Kill(); });
    }
    return FateOf(now.trouble, request);
  }

  void AddLease(const std::string& name) {
    json lease = {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
    lease["metadata"]["name"] = name;
    lease["spec"] = {{"holderIdentity", ""}, {"leaseDurationSeconds", 1}, {"leaseTransitions", 1}};
    Create(kLeases, lease);
  }
  void AddNode(const std::string& name) {
    json node = {{"apiVersion", "v1"}, {"kind", "Node"}};
    node["metadata"]["name"] = name;
    node["status"]["allocatable"] = {{"cpu", "4"}, {"pods", "110"}};
    Create("/api/v1/nodes", node);
    server_.Ask("PATCH", "/api/v1/nodes/" + name, {{"spec", {{"taints", nullptr}}}});
  }
  void AddGpuNode() {
    const json gpu = {{"count", 10}, {"devmem", 81920}, {"devcore", 100}, {"health", true}};
    json gpus = json::array({gpu, gpu});
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      gpus[i]["id"] = fmt::format("GPU-{}", i);
      gpus[i]["index"] = i;
    }
    json node = {{"apiVersion", "v1"}, {"kind", "Node"}};
    node["metadata"]["name"] = "gpus";
    node["metadata"]["annotations"]["hami.io/node-nvidia-register"] = gpus.dump();
    node["status"]["allocatable"] = {{"cpu", "0"}, {"pods", "110"}, {"nvidia.com/gpu", "20"}};
    Create("/api/v1/nodes", node);
    server_.Ask("PATCH", kGpuNode, {{"spec", {{"taints", nullptr}}}});
  }
  void CreateAll() {
    CreateJob("job", 2, 2);
    CreateJob("big", 3, 4);
    CreateGang("gang", 2, PodOf(1));
    CreateGang("wide", 3, PodOf(4));
    json with_gpu = PodOf(0);
    with_gpu["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "1";
    CreateGang("gpus", 2, with_gpu);
    json lone = PodOf(1);
    lone["metadata"]["name"] = "lone";
    Create(kPods, lone);
  }
  void CreateJob(const std::string& name, int pods, int cpus) {
    json job = {{"apiVersion", "batch.volcano.sh/v1alpha1"}, {"kind", "Job"}};
    job["metadata"]["name"] = name;
    job["spec"] = {{"minAvailable", pods}, {"schedulerName", "volcano"}, {"queue", "default"}};
    job["spec"]["tasks"] = {{{"name", "w"}, {"replicas", pods}, {"template", PodOf(cpus)}}};
    Create(kJobs, job);
  }
  void CreateGang(const std::string& name, int pods, json pod) {
    json group = {{"apiVersion", "scheduling.volcano.sh/v1beta1"}, {"kind", "PodGroup"}};
    group["metadata"]["name"] = name;
    group["spec"]["minMember"] = pods;
    Create(kGroups, group);
    for (int i = 0; i < pods; ++i) {
      pod["metadata"]["name"] = fmt::format("{}-{}", name, i);
      pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = name;
      Create(kPods, pod);
    }
  }
  static json PodOf(int cpus) {
    json container = {{"name", "c"}, {"image", "busybox"}};
    container["resources"]["requests"]["cpu"] = std::to_string(cpus);
    json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}};
    pod["spec"]["schedulerName"] = "volcano";
    pod["spec"]["containers"] = json::array({container});
    return pod;
  }
  void Create(const std::string& path, const json& object) {
    CHECK(server_.Ask("POST", path, object) == 201);
  }

  // What HAMi's agent does for a pod: it serves the one that the lock names.
  bool Serve(const json& pod) {
    const std::string& name = TextAt(pod, {"metadata", "name"});
    const std::string& phase = TextAt(pod, {"metadata", "annotations", "hami.io/bind-phase"});
    if (phase != "allocating") return true;
    const json node = server_.Get(kGpuNode);
    const std::string& lock = TextAt(node, {"metadata", "annotations", "hami.io/mutex.lock"});
    if (!lock.ends_with(",default," + name)) return false;
    json served;
    served["metadata"]["annotations"]["hami.io/bind-phase"] = "success";
    server_.Ask("PATCH", fmt::format("{}/{}", kPods, name), served);
    json released;
    released["metadata"]["annotations"]["hami.io/mutex.lock"] = nullptr;
    server_.Ask("PATCH", kGpuNode, released);
    return true;
  }

  // What there is, by name and without uids; pods that have a node begin to run.
  std::string State() {
    std::string text;
    const json pods = server_.Get(kPods);
    for (const json& pod : ListAt(pods, {"items"})) {
      const std::string& name = TextAt(pod, {"metadata", "name"});
      const std::string& phase = TextAt(pod, {"status", "phase"});
      const bool bound = !TextAt(pod, {"spec", "nodeName"}).empty();
      text += fmt::format("pod {} {} {}\n", name, phase, bound ? "bound" : "waits");
      if (!bound || phase == "Running" || !Serve(pod)) continue;
      const std::string path = fmt::format("{}/{}/status", kPods, name);
      server_.Ask("PATCH", path, {{"status", {{"phase", "Running"}}}});
    }
    std::multiset<std::string> groups;  // names have uids in them
    const json all_groups = server_.Get(kGroups);
    for (const json& group : ListAt(all_groups, {"items"})) {
      const std::string& name = TextAt(group, {"metadata", "name"});
      groups.insert(fmt::format("group {} {} of {}\n",
                                name.substr(0, name.find('-')),
                                TextAt(group, {"status", "phase"}),
                                IntegerAt(group, {"spec", "minMember"})));
    }
    for (const std::string& group : groups) text += group;
    const json jobs = server_.Get(kJobs);
    for (const json& job : ListAt(jobs, {"items"})) {
      text += fmt::format("job {} {} {}\n",
                          TextAt(job, {"metadata", "name"}),
                          TextAt(job, {"status", "state", "phase"}),
                          IntegerAt(job, {"status", "running"}));
    }
    const json node = server_.Get(kGpuNode);
    text += fmt::format("lock \"{}\"\n",
                        TextAt(node, {"metadata", "annotations", "hami.io/mutex.lock"}));
    const json queue = server_.Get(kQueue);
    return text + fmt::format("queue {} allocated {} running {}\n",
                              TextAt(queue, {"status", "state"}),
                              TextAt(queue, {"status", "allocated", "cpu"}),
                              IntegerAt(queue, {"status", "running"}));
  }

  const std::vector<Case> cases_;
  std::size_t met_ = 0;
  std::set<std::string> calls_;
  Random random_{1};
  Timeline timeline_;
  Trace trace_{timeline_};
  Server server_{timeline_, Random(2), 100'000};
  Faults faults_{Random(3)};
  const World world_{timeline_,
                     server_,
                     faults_,
                     trace_,
                     [] {},
                     [](int) {},
                     [](const std::string&) {},
                     [](const auto&, const auto&, const auto&) {}};
  std::map<std::string, std::unique_ptr<Process>> processes_;
};

class CallTable {
 public:
  CallTable() {
    Cluster quiet({});
    wanted_ = quiet.Run(std::nullopt);
    for (const std::string& call : quiet.calls()) table_.emplace(call, std::vector<Case>());
  }

  // Each call of the table with each trouble. A call that only a trouble makes joins the table,
  // behind the trouble that made it.
  int RunAll() {
    int runs = 0;
    int cases = 0;
    std::set<std::string> done;
    while (done.size() < table_.size()) {
      for (const auto& [call, before] : std::map(table_)) {
        if (!done.insert(call).second) continue;
        for (const Trouble trouble : kTroubles) {
          for (const Leader leader : {Leader::kStays, Leader::kChanges}) {
            if (cases++ % STRATA_EVERY != 0) continue;
            RunOne(before, {call, trouble, leader});
            ++runs;
          }
        }
      }
    }
    return runs;
  }

  [[nodiscard]] const std::map<std::string, std::vector<Case>>& table() const { return table_; }
  [[nodiscard]] const std::string& wanted() const { return wanted_; }

 private:
  void RunOne(std::vector<Case> cases, Case last) {
    cases.push_back(std::move(last));
    Cluster cluster(cases);
    const std::string state = cluster.Run(wanted_);
    std::string text;
    for (const Case& one : cases) text += one.Text() + "; ";
    EXPECT_EQ(state, wanted_) << text << "\n" << cluster.trace();
    EXPECT_TRUE(cluster.MetAll()) << text;
    // The trouble of one call may come before another gets that far.
    if (cases.size() > 1) return;
    for (const std::string& call : cluster.calls()) table_.try_emplace(call, cases);
  }

  std::string wanted_;
  std::map<std::string, std::vector<Case>> table_;  // what must happen before the call is made
};

TEST(Calls, EndInTheSameStateWhateverHappensToOneOfThem) {
  CallTable table;
  ASSERT_NE(table.wanted().find("job job Running 2"), std::string::npos) << table.wanted();
  ASSERT_NE(table.wanted().find("pod gpus-1 Running"), std::string::npos) << table.wanted();
  ASSERT_NE(table.wanted().find("lock \"\""), std::string::npos) << table.wanted();
  const int runs = table.RunAll();
  std::string calls;
  for (const auto& [call, before] : table.table()) {
    calls +=
        fmt::format("\n  {}{}", call, before.empty() ? "" : " (after: " + before[0].Text() + ")");
  }
  fmt::print("{} calls, {} runs:{}\n", table.table().size(), runs, calls);
}

TEST(Takeover, ControllersDeleteNoPodsBecauseTheirWatchIsBehind) {
  Cluster cluster({});
  cluster.Run(std::nullopt);
  const json lease = cluster.server().Get(fmt::format("{}/vc-controller-manager", kLeases));
  const bool first = TextAt(lease, {"spec", "holderIdentity"}).starts_with("controllers-0");
  cluster.process(first ? "controllers-1" : "controllers-0").SilencePods();
  for (const char* pod : {"job-w-0", "job-w-1"}) {
    cluster.server().Ask(
        "PATCH", fmt::format("{}/{}/status", kPods, pod), {{"status", {{"phase", "Succeeded"}}}});
  }
  cluster.RunFor(seconds(20));
  const std::string job = fmt::format("{}/job", kJobs);
  ASSERT_EQ(TextAt(cluster.server().Get(job)["status"], {"state", "phase"}), "Completed");
  cluster.process(first ? "controllers-0" : "controllers-1").Kill();
  cluster.RunFor(seconds(60));
  for (const char* pod : {"job-w-0", "job-w-1"}) {
    EXPECT_FALSE(cluster.server().Get(fmt::format("{}/{}", kPods, pod)).is_null()) << pod;
  }
}

}  // namespace
}  // namespace strata::histories
