#include "tests/histories/workload.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "json/access.h"
#include "tests/histories/paths.h"

namespace strata::histories {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kMeeting = seconds(5);
constexpr std::pair<const char*, int> kPriorities[] = {{"low", 1}, {"middle", 100}, {"high", 1000}};

// What every pod of a gang has.
json PodTemplate(const Gang& gang) {
  json container = {{"name", "c"}, {"image", "busybox"}};
  container["resources"]["requests"]["cpu"] = std::to_string(gang.cpus);
  json pod;
  pod["spec"] = {{"schedulerName", "volcano"}, {"priorityClassName", gang.priority}};
  pod["spec"]["containers"].push_back(std::move(container));
  return pod;
}

}  // namespace

Workload::Workload(const World& world, Judge& judge, Random random, Jobs jobs)
    : world_(world), judge_(judge), random_(random), jobs_(jobs) {
  judge_.on_pod = [this](const Judge::Pod& pod) { FollowPod(pod); };
}

void Workload::Start(Duration end) {
  if (!evicts_) {
    AddPriorities();
    const auto nodes = random_.From(2, 4);
    for (int i = 0; i < nodes; ++i) AddNode(fmt::format("node-{}", i), random_.From(2, 5));
  }
  for (const char* lease : {"volcano", "vc-controller-manager"}) AddLease(lease);
  const auto gangs = random_.From(4, 9);
  for (int i = 0; i < gangs; ++i) {
    const Gang gang = MakeGang(kPriorities[random_.Below(3)].first);
    // Half of them together, so that gangs meet.
    const Duration comes = random_.OneIn(2) ? kMeeting : random_.Between(seconds(0), end);
    world_.timeline.After(comes, [this, gang] { Create(gang); });
  }
}

void Workload::AddResidents() {
  evicts_ = true;
  judge_.on_gone = [this](const Judge::Pod& pod) {
    // What a job's controller does.
    started_.erase(pod.name);
    const int number = std::stoi(pod.name.substr(pod.name.rfind('-') + 1));
    world_.timeline.After(random_.Between(milliseconds(200), seconds(3)), [this, pod, number] {
      const bool deleted = judge_.IsDeleted(pod.gang);
      if (!deleted && !judge_.pods().contains(pod.name)) CreatePod(gangs_.at(pod.gang), number);
    });
  };
  AddPriorities();
  AddConfiguration();
  std::vector<Gang> residents;
  for (int i = 0; i < 3; ++i) {
    Gang& gang = residents.emplace_back();
    gang.name = fmt::format("gang-{}", gangs_made_++);
    gang.priority = "low";
    gang.pods = 0;
  }
  std::vector<std::pair<int, std::string>> pods;  // of which gang, and where
  const auto nodes = random_.From(2, 4);
  for (int i = 0; i < nodes; ++i) {
    const std::string name = fmt::format("node-{}", i);
    const auto cpus = random_.From(2, 5);
    AddNode(name, cpus);
    for (int cpu = 0; cpu < cpus; ++cpu) {
      if (!random_.OneIn(6)) pods.emplace_back(static_cast<int>(random_.Below(3)), name);
    }
  }
  for (const auto& [gang, node] : pods) ++residents[static_cast<std::size_t>(gang)].pods;
  for (Gang& gang : residents) {
    if (gang.pods == 0) continue;
    gang.minimum = random_.OneIn(3) ? std::max(gang.pods - 2, 1) : gang.pods;
    CreateGroup(gang);
  }
  std::vector<int> made(residents.size(), 0);
  for (const auto& [gang, node] : pods) {
    const auto index = static_cast<std::size_t>(gang);
    Settle(residents[index], made[index]++, node);
  }
}

void Workload::AddConfiguration() {
  json map = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
  map["metadata"]["name"] = "volcano-scheduler-configmap";
  map["data"]["volcano-scheduler.conf"] =
      "actions: enqueue, allocate, gangpreempt, backfill\n"
      "tiers: [{plugins: [{name: priority}, {name: gang}, {name: predicates}]}]\n";
  CHECK(world_.server.Ask("POST", "/api/v1/namespaces/volcano-system/configmaps", map) == 201);
}

// The pod has run on the node for a day.
void Workload::Settle(const Gang& gang, int number, const std::string& node) {
  CreatePod(gang, number);
  const std::string name = fmt::format("{}-{}", gang.name, number);
  started_.insert(name);
  json binding = {{"apiVersion", "v1"}, {"kind", "Binding"}};
  binding["metadata"]["name"] = name;
  binding["target"] = {{"kind", "Node"}, {"name", node}};
  CHECK(world_.server.Ask("POST", fmt::format("{}/{}/binding", kPods, name), binding) == 201);
  const json scheduled = {
      {"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", "2020-01-01T00:00:00Z"}};
  world_.server.Ask("PATCH",
                    fmt::format("{}/{}/status", kPods, name),
                    {{"status", {{"phase", "Running"}, {"conditions", {scheduled}}}}});
}

Gang Workload::MakeGang(const char* priority) {
  Gang gang;
  gang.name = fmt::format("gang-{}", gangs_made_++);
  gang.priority = priority;
  gang.pods = static_cast<int>(random_.From(1, 5));
  gang.minimum = gang.pods > 1 && random_.OneIn(4) ? gang.pods - 1 : gang.pods;
  gang.cpus = random_.From(1, 2);
  gang.is_job = jobs_ == Jobs::kSome && random_.OneIn(2);
  return gang;
}

void Workload::SendRival() {
  constexpr int kMaxRivals = 3;
  if (calm_ || rivals_ == kMaxRivals || random_.OneIn(2)) return;
  ++rivals_;
  const Gang rival = MakeGang("high");
  world_.timeline.After(random_.Between(seconds(0), seconds(12)), [this, rival] { Create(rival); });
}

void Workload::AddPriorities() {
  for (const auto& [name, value] : kPriorities) {
    const int made = world_.server.Ask("POST",
                                       "/apis/scheduling.k8s.io/v1/priorityclasses",
                                       {{"apiVersion", "scheduling.k8s.io/v1"},
                                        {"kind", "PriorityClass"},
                                        {"metadata", {{"name", name}}},
                                        {"value", value}});
    CHECK(made == 201);
  }
}

// As the last leader left it: without one, nobody would lead for the first 15 s.
void Workload::AddLease(const char* name) {
  json lease = {{"apiVersion", "coordination.k8s.io/v1"}, {"kind", "Lease"}};
  lease["metadata"]["name"] = name;
  lease["spec"] = {{"holderIdentity", ""}, {"leaseDurationSeconds", 1}, {"leaseTransitions", 1}};
  CHECK(world_.server.Ask("POST", kLeases, lease) == 201);
}

void Workload::AddNode(const std::string& name, std::int64_t cpus) {
  world_.trace.Say("user", fmt::format("adds {} with {} CPUs", name, cpus));
  judge_.AddNode(name, cpus);
  json node = {{"apiVersion", "v1"}, {"kind", "Node"}};
  node["metadata"]["name"] = name;
  node["status"]["allocatable"] = {{"cpu", std::to_string(cpus)}, {"pods", "110"}};
  const int made = world_.server.Ask("POST", "/api/v1/nodes", node);
  CHECK(made == 201);
  // A new node is tainted as not ready; its kubelet is quick.
  world_.server.Ask("PATCH", "/api/v1/nodes/" + name, {{"spec", {{"taints", nullptr}}}});
}

void Workload::Create(const Gang& gang) {
  world_.trace.Say("user",
                   fmt::format("creates {} with {} pods (minimum {}) of {} CPUs, priority {}",
                               gang.name,
                               gang.pods,
                               gang.minimum,
                               gang.cpus,
                               gang.priority));
  if (gang.is_job) return CreateJob(gang);
  CreateGroup(gang);
  Duration comes(0);
  for (int i = 0; i < gang.pods; ++i) {
    world_.timeline.After(comes, [this, gang, i] { CreatePod(gang, i); });
    comes += random_.Between(milliseconds(0), milliseconds(300));
  }
  PlanDeletion(gang, comes);
}

void Workload::CreateGroup(const Gang& gang) {
  gangs_[gang.name] = gang;
  judge_.AddGang(gang);
  const int made = world_.server.Ask(
      "POST",
      kGroups,
      {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
       {"kind", "PodGroup"},
       {"metadata", {{"name", gang.name}}},
       {"spec", {{"minMember", gang.minimum}, {"priorityClassName", gang.priority}}}});
  CHECK(made == 201);
}

void Workload::PlanDeletion(const Gang& gang, Duration comes) {
  if (!random_.OneIn(5)) return;
  world_.timeline.After(comes + random_.Between(seconds(1), seconds(40)), [this, gang] {
    if (!calm_) Delete(gang);
  });
}

void Workload::CreateJob(const Gang& gang) {
  gangs_[gang.name] = gang;
  judge_.AddGang(gang);
  json task = {{"name", "worker"}, {"replicas", gang.pods}};
  task["template"] = PodTemplate(gang);
  json job = {{"apiVersion", "batch.volcano.sh/v1alpha1"}, {"kind", "Job"}};
  job["metadata"]["name"] = gang.name;
  job["spec"] = {{"minAvailable", gang.minimum},
                 {"schedulerName", "volcano"},
                 {"queue", "default"},
                 {"priorityClassName", gang.priority}};
  job["spec"]["tasks"].push_back(std::move(task));
  CHECK(world_.server.Ask("POST", kJobs, job) == 201);
  PlanDeletion(gang, Duration(0));
}

void Workload::CreatePod(const Gang& gang, int number) {
  json pod = PodTemplate(gang);
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  pod["metadata"]["name"] = gang.PodName(number);
  pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] = gang.name;
  const int made = world_.server.Ask("POST", kPods, pod);
  CHECK(made == 201);
}

void Workload::Delete(const Gang& gang) {
  world_.trace.Say("user", "deletes " + gang.name);
  judge_.AllowDeletion(gang.name);
  if (gang.is_job) DeleteJob(gang);
  for (int i = 0; i < gang.pods; ++i) {
    world_.server.Ask("DELETE", fmt::format("{}/{}", kPods, gang.PodName(i)), nullptr);
  }
  if (!gang.is_job) {
    world_.server.Ask("DELETE", fmt::format("{}/{}", kGroups, gang.name), nullptr);
  }
}

// Its PodGroup is collected, also when the controllers' request to create it arrives late.
void Workload::DeleteJob(const Gang& gang) {
  const std::string job = fmt::format("{}/{}", kJobs, gang.name);
  const std::string group = fmt::format(
      "{}/{}-{}", kGroups, gang.name, TextAt(world_.server.Get(job), {"metadata", "uid"}));
  world_.server.Ask("DELETE", job, nullptr);
  for (const Duration wait : {seconds(1), seconds(20), seconds(65)}) {
    world_.timeline.After(wait, [this, group] { world_.server.Ask("DELETE", group, nullptr); });
  }
}

// What a kubelet does, a moment after it has seen the pod.
void Workload::FollowPod(const Judge::Pod& pod) {
  const std::string name = pod.name;
  if (!pod.dying && judge_.IsDeleted(pod.gang)) return Collect(name);
  if (pod.node.empty()) return;
  if (pod.dying) {
    // Evicted ones take their time.
    const Duration longest = evicts_ ? seconds(12) : seconds(3);
    world_.timeline.After(random_.Between(milliseconds(100), longest), [this, name, uid = pod.uid] {
      world_.server.Ask("DELETE",
                        fmt::format("{}/{}", kPods, name),
                        {{"gracePeriodSeconds", 0}, {"preconditions", {{"uid", uid}}}});
    });
    return;
  }
  if (started_.insert(name).second) {
    world_.timeline.After(random_.Between(milliseconds(100), seconds(2)),
                          [this, name] { SetPhase(name, "Running"); });
  }
  const Gang& gang = gangs_.at(pod.gang);
  if (judge_.PodsWithNode(gang.name) < gang.pods || !whole_.insert(gang.name).second) return;
  if (!random_.OneIn(2)) return;
  world_.timeline.After(random_.Between(seconds(5), seconds(40)), [this, name = gang.name] {
    if (!calm_) FinishGang(name);
  });
}

// What Kubernetes does with a pod that came, or was bound, after its Job had been deleted.
void Workload::Collect(const std::string& pod) {
  if (!collected_.insert(pod).second) return;
  world_.timeline.After(random_.Between(milliseconds(100), seconds(2)), [this, pod] {
    collected_.erase(pod);
    world_.server.Ask("DELETE", fmt::format("{}/{}", kPods, pod), nullptr);
  });
}

void Workload::FinishGang(const std::string& gang) {
  // It may have been evicted since it was whole, and begun anew.
  if (evicts_ && judge_.PodsWithNode(gang) < gangs_.at(gang).pods) return;
  for (const auto& [name, pod] : judge_.pods()) {
    if (pod.gang == gang && !pod.target.empty()) return;  // it is being evicted
  }
  for (int i = 0; i < gangs_.at(gang).pods; ++i) {
    SetPhase(gangs_.at(gang).PodName(i), "Succeeded");
  }
}

void Workload::SetPhase(const std::string& pod, const char* phase) {
  const auto known = judge_.pods().find(pod);
  if (known == judge_.pods().end() || known->second.phase == "Succeeded") return;
  if (known->second.node.empty()) return;  // created again since
  world_.server.Ask(
      "PATCH", fmt::format("{}/{}/status", kPods, pod), {{"status", {{"phase", phase}}}});
}

}  // namespace strata::histories
