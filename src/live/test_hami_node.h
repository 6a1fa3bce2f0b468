#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/timestamp.h"
#include "convert/gpu_dialect.h"
#include "live/live_scheduler.h"
#include "live/test_fake_cluster.h"

namespace strata::live {

class HamiClock final : public Clock {
 public:
  explicit HamiClock(const kube::FakeTransport& transport) : transport_(transport) {}
  [[nodiscard]] Time Now() const override {
    return Time{std::chrono::seconds(1'800'000'000)} + transport_.Now().time_since_epoch();
  }

 private:
  const kube::FakeTransport& transport_;
};

// A scheduler, an API server that carries writes out, and a node n0 with eight GPUs, a kubelet and
// HAMi's or Volcano's agent, in one time. The kubelet admits one pod every 100 ms, in the order of
// their binds; an admitted pod runs three seconds later.
class HamiNode {
 public:
  using Labels = std::map<std::string, std::string>;
  struct Pod {
    std::string scheduler = "volcano";
    std::string node = {};
    std::string phase = "Pending";
    Labels annotations = {};
    std::vector<std::string> got = {};  // the GPUs that the agent mounted
    std::optional<net::SteadyTime> runs_at = {};
  };

  explicit HamiNode(GpuDialect dialect = GpuDialect::kHami) : names(NamesOf(dialect)) {
    options.advises = false;
    options.random = [] { return 0.5; };
    cluster.answer = [this](const net::HttpRequest& request) { return Answer(request); };
    annotations[std::string(names.registered)] = RegisterText();
    PutNode();
  }

  void AddGang(int size, int minimum) {
    cluster.Put(kube::kPodGroups, "ns", "g", fmt::format(R"("spec":{{"minMember":{}}})", minimum));
    for (int i = 0; i < size; ++i) AddPod(fmt::format("p-{}", i), {});
  }
  void AddPod(const std::string& name, Pod pod) {
    pod.annotations["scheduling.k8s.io/group-name"] = "g";
    pods[name] = std::move(pod);
    PutPod(name);
  }
  void RemovePod(const std::string& name) {
    pods.erase(name);
    cluster.Remove(kube::kPods, "ns", name);
  }
  void PutPod(const std::string& name) {
    const Pod& pod = pods.at(name);
    nlohmann::json spec = {{"schedulerName", pod.scheduler}};
    if (!pod.node.empty()) spec["nodeName"] = pod.node;
    spec["containers"].push_back({{"name", "c"}, {"image", "i"}});
    spec["containers"][0]["resources"]["limits"] = {{names.count, "1"}, {"cpu", "1"}};
    cluster.Put(kube::kPods,
                "ns",
                name,
                fmt::format(R"("spec":{},"status":{{"phase":"{}"}})", spec.dump(), pod.phase),
                R"(,"annotations":)" + nlohmann::json(pod.annotations).dump());
  }
  void PutNode() {
    cluster.Put(kube::kNodes,
                "",
                "n0",
                R"("status":{"allocatable":{"cpu":"64","pods":"100","nvidia.com/gpu":"80",)"
                R"("volcano.sh/vgpu-number":"80","volcano.sh/vgpu-memory":"60000",)"
                R"("volcano.sh/vgpu-cores":"800"}})",
                R"(,"annotations":)" + nlohmann::json(annotations).dump());
    version = cluster.version();
  }
  void Lock(const std::string& text) {
    annotations[std::string(names.lock)] = text;
    PutNode();
  }
  [[nodiscard]] std::string LockText() const {
    const auto lock = annotations.find(std::string(names.lock));
    return lock == annotations.end() ? "" : lock->second;
  }
  // "2027-01-15T08:00:00Z" some time ago.
  [[nodiscard]] std::string Ago(Duration age) const {
    return FormatTimestamp(std::chrono::floor<std::chrono::seconds>(clock.Now() - age));
  }

  void Start() {
    scheduler = std::make_unique<LiveScheduler>(*cluster.client, options, log, clock);
    static_cast<void>(scheduler->Start());
  }
  void Kill() {
    scheduler.reset();
    dead = false;
  }
  void Pass(Duration time) {
    const net::SteadyTime end = cluster.transport.Now() + time;
    while (cluster.transport.Now() < end && !dead) Tick();
  }
  // False when it did not come true in time.
  bool Until(const std::function<bool()>& is_true, Duration limit) {
    const net::SteadyTime end = cluster.transport.Now() + limit;
    while (!is_true() && !dead && cluster.transport.Now() < end) Tick();
    return is_true();
  }
  [[nodiscard]] int Count(const std::string& phase) const {
    return static_cast<int>(std::count_if(
        pods.begin(), pods.end(), [&](const auto& entry) { return entry.second.phase == phase; }));
  }
  // Pods that run with the GPUs that they were given.
  [[nodiscard]] int RightOnes() const {
    return static_cast<int>(std::count_if(pods.begin(), pods.end(), [&](const auto& entry) {
      const Pod& pod = entry.second;
      return pod.phase == "Running" && !pod.got.empty() &&
             pod.got == Uuids(pod.annotations.at(std::string(names.allocated)));
    }));
  }
  [[nodiscard]] std::vector<std::string> NodeWrites() const {
    return cluster.WritesTo("/api/v1/nodes/n0");
  }

  const GpuNames& names;
  FakeCluster cluster;
  HamiClock clock{cluster.transport};
  obs::RecentLines lines{1 << 20};
  obs::Log log{"scheduler", clock, {&lines}};
  SchedulerOptions options;
  std::unique_ptr<LiveScheduler> scheduler;

  Labels annotations;  // of the node
  std::string version;
  std::map<std::string, Pod> pods;
  std::vector<std::string> bound;  // in their order
  int most_in_flight = 0;          // pods that waited for the agent at the same time
  bool agent_serves = true;
  // Asked before a write is carried out; another status than 0 is the answer.
  std::function<int(const net::HttpRequest&)> refuse = [](const auto&) { return 0; };
  // The scheduler dies after so many writes to the node and binds, before it hears the answer.
  int die_after = -1;
  bool dead = false;

 private:
  [[nodiscard]] bool IsVolcano() const { return names.dialect == GpuDialect::kVolcano; }

  [[nodiscard]] std::string RegisterText() const {
    std::string text;
    for (int i = 0; i < 8; ++i)
      text += fmt::format("GPU-{},10,81920,NVIDIA-H100,true,hami-core:", i);
    if (IsVolcano()) return text;
    nlohmann::json gpus = nlohmann::json::array();
    for (int i = 0; i < 8; ++i) {
      gpus.push_back({{"id", fmt::format("GPU-{}", i)},
                      {"index", i},
                      {"count", 10},
                      {"devmem", 81920},
                      {"devcore", 100},
                      {"type", "NVIDIA-H100"},
                      {"mode", "hami-core"},
                      {"health", true}});
    }
    return gpus.dump();
  }

  static std::vector<std::string> Uuids(const std::string& slot) {
    std::vector<std::string> uuids;
    for (const std::string_view item : Split(slot, ':')) {
      const std::string_view uuid = Split(item, ',')[0];
      if (uuid.starts_with("GPU")) uuids.emplace_back(uuid);
    }
    return uuids;
  }

  void Tick() {
    cluster.transport.Advance(Duration(0));
    if (!dead) scheduler->Step();
    cluster.transport.Advance(std::chrono::milliseconds(100));
    if (agent_serves) Admit();
    for (auto& [name, pod] : pods) {
      if (!pod.runs_at || cluster.transport.Now() < *pod.runs_at) continue;
      pod.runs_at.reset();
      pod.phase = "Running";
      PutPod(name);
    }
  }

  // ---- the API server

  FakeCluster::Answer Answer(const net::HttpRequest& request) {
    const bool binds = request.path.ends_with("/binding");
    const bool locks = request.path == "/api/v1/nodes/n0";
    if (const int status = refuse(request); status != 0) {
      return {status, R"({"kind":"Status","message":"refused by the test"})"};
    }
    if (!binds && !locks) return {};
    FakeCluster::Answer answer = locks ? PatchNode(request.body) : Bind(request);
    if (die_after > 0 && --die_after == 0) {
      dead = true;
      answer.status = 0;
    }
    return answer;
  }

  FakeCluster::Answer PatchNode(const std::string& body) {
    const nlohmann::json patch = nlohmann::json::parse(body);
    if (patch["metadata"]["resourceVersion"] != version) return {409, R"({"kind":"Status"})"};
    for (const auto& [key, value] : patch["metadata"]["annotations"].items()) {
      if (value.is_null()) {
        annotations.erase(key);
      } else {
        annotations[key] = value;
      }
    }
    PutNode();
    return {200, R"({"metadata":{"resourceVersion":")" + version + "\"}}"};
  }

  FakeCluster::Answer Bind(const net::HttpRequest& request) {
    const nlohmann::json binding = nlohmann::json::parse(request.body);
    const std::string name = binding["metadata"]["name"];
    const auto found = pods.find(name);
    if (found == pods.end()) return {404, R"({"kind":"Status"})"};
    Pod& pod = found->second;
    if (!pod.node.empty()) return {409, R"({"kind":"Status"})"};
    pod.node = binding["target"]["name"];
    for (const auto& [key, value] : binding["metadata"]["annotations"].items()) {
      pod.annotations[key] = value;
    }
    bound.push_back(name);
    admissions_.push_back(name);
    const auto waits = [&](const auto& entry) {
      const auto phase = entry.second.annotations.find(std::string(names.bind_phase));
      return phase != entry.second.annotations.end() && phase->second == "allocating" &&
             entry.second.phase == "Pending";
    };
    most_in_flight =
        std::max(most_in_flight, static_cast<int>(std::count_if(pods.begin(), pods.end(), waits)));
    PutPod(name);
    return {};
  }

  // ---- the kubelet and the agent

  void Admit() {
    if (admissions_.empty()) return;
    const std::string name = admissions_.front();
    admissions_.pop_front();
    if (!pods.contains(name)) return;
    Pod& pod = pods.at(name);
    if (Allocate(pod.got)) {
      pod.runs_at = cluster.transport.Now() + std::chrono::seconds(3);
    } else {
      pod.phase = "Failed";  // UnexpectedAdmissionError
      PutPod(name);
    }
  }

  // A container with one GPU asks; false: an error. The agent is not told which pod it is for.
  bool Allocate(std::vector<std::string>& got) {
    const std::string name = PodToServe();
    if (name.empty()) return false;
    Pod& pod = pods.at(name);
    std::string& text = pod.annotations[std::string(names.to_allocate)];
    const std::size_t begin = text.find_first_not_of(';');
    const std::size_t end = begin == std::string::npos ? begin : text.find(';', begin);
    const std::vector<std::string> uuids = begin == std::string::npos
                                               ? std::vector<std::string>{}
                                               : Uuids(text.substr(begin, end - begin));
    const bool fits = uuids.size() == 1;  // else "device number not matched"
    if (fits) {
      got = uuids;
      text.erase(begin, end - begin);
    }
    if (!fits || text.find("NVIDIA") == std::string::npos) {
      pod.annotations[std::string(names.bind_phase)] = fits ? "success" : "failed";
      if (IsVolcano()) pod.annotations[std::string(names.time)] = "18446744073709551615";
      PutPod(name);
      Release(name);
    }
    return fits;
  }

  // HAMi's: the owner of the lock, or the first in the order of the API.
  std::string PodToServe() const {
    if (IsVolcano()) return OldestWaiting();
    const std::string lock = LockText();
    const std::vector<std::string_view> fields = Split(lock, ',');
    if (fields.size() == 3)
      return pods.contains(std::string(fields[2])) ? std::string(fields[2]) : "";
    for (const auto& [name, pod] : pods) {
      const auto phase = pod.annotations.find(std::string(names.bind_phase));
      if (pod.phase != "Pending" || pod.node.empty() || phase == pod.annotations.end()) continue;
      if (phase->second == "allocating" || phase->second == "success") return name;
    }
    return "";
  }

  // Volcano's: of the pods that wait for one GPU that with the oldest record, whatever the lock
  // says; of several with the same time the last, since any may come first.
  std::string OldestWaiting() const {
    std::string oldest;
    std::uint64_t since = 0;
    for (const auto& [name, pod] : pods) {
      const auto text = pod.annotations.find(std::string(names.to_allocate));
      if (text == pod.annotations.end() || Uuids(text->second).size() != 1) continue;
      const std::uint64_t time = std::stoull(pod.annotations.at(std::string(names.time)));
      if (!oldest.empty() && time > since) continue;
      oldest = name;
      since = time;
    }
    return oldest;
  }

  void Release(const std::string& pod) {
    if (!IsVolcano() && !LockText().ends_with(",ns," + pod)) return;
    annotations.erase(std::string(names.lock));
    PutNode();
  }

  std::deque<std::string> admissions_;
};

}  // namespace strata::live
