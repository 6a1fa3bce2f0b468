#include "tests/histories/judge.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "json/access.h"
#include "json/parse.h"
#include "tests/histories/paths.h"

namespace strata::histories {
namespace {

using nlohmann::json;

constexpr std::int64_t kNobody = std::numeric_limits<std::int64_t>::max();

bool TakesRoom(const Judge::Pod& pod) {
  return !pod.node.empty() && pod.phase != "Succeeded" && pod.phase != "Failed";
}

Judge::Pod ReadPod(const json& object) {
  Judge::Pod pod;
  pod.name = TextAt(object, {"metadata", "name"});
  pod.uid = TextAt(object, {"metadata", "uid"});
  pod.gang = TextAt(object, {"metadata", "labels", "volcano.sh/job-name"});
  if (pod.gang.empty()) {
    pod.gang = TextAt(object, {"metadata", "annotations", "scheduling.k8s.io/group-name"});
  }
  pod.node = TextAt(object, {"spec", "nodeName"});
  pod.phase = TextAt(object, {"status", "phase"});
  pod.dying = !TextAt(object, {"metadata", "deletionTimestamp"}).empty();
  for (const json& condition : ListAt(object, {"status", "conditions"})) {
    if (TextAt(condition, {"type"}) != "DisruptionTarget") continue;
    const std::string& message = TextAt(condition, {"message"});
    const std::size_t at = message.find(" for default/");
    const bool is_true = TextAt(condition, {"status"}) == "True";
    if (is_true && at != std::string::npos) pod.target = message.substr(at + 13);
  }
  const json& container = ListAt(object, {"spec", "containers"}).at(0);
  pod.cpus = std::atoll(TextAt(container, {"resources", "requests", "cpu"}).c_str());
  return pod;
}

}  // namespace

Judge::Judge(Server& server, Trace& trace) : server_(server), trace_(trace) {
  auto position = server.store().WatchFrom("pods", server.store().version());
  CHECK(position);
  position_ = *std::move(position);
  subscription_ = server.store().Subscribe("pods", [this] { TakeChanges(); });
}

void Judge::TakeChanges() {
  while (true) {
    const Result<const apiserver::Change*> change = server_.store().Next(position_);
    CHECK(change);
    if (*change == nullptr) return;
    TakeChange(**change);
  }
}

void Judge::TakeChange(const apiserver::Change& change) {
  ++changes_;
  Pod pod = ReadPod(ParseJsonOrNull(change.after->body));
  if (!pods_.contains(pod.name)) CheckCreated(pod);
  Pod& known = pods_[pod.name];
  const bool took_room = TakesRoom(known);
  Use(known, -1);
  if (change.kind == apiserver::Change::Kind::kDeleted) return TakeDeletion(pod, change.version);
  if (!known.node.empty() && known.node != pod.node) {
    Blame(broken_.bound_twice, fmt::format("{}: {}, then {}", pod.name, known.node, pod.node));
  }
  if (known.node.empty() && !pod.node.empty()) {
    ++binds_;
    GangSeen& gang = gangs_.at(pod.gang);
    if (gang.started == 0) gang.started = change.version;
    gang.bound = change.version;
    pod.bound_since = change.version;
  } else {
    pod.bound_since = known.bound_since;
  }
  if (!pod.target.empty() && pod.dying && !known.dying) NoteEviction(pod, change.version);
  trace_.Say("store",
             fmt::format("{} {} node={} phase={}{}",
                         change.version,
                         pod.name,
                         pod.node,
                         pod.phase,
                         pod.dying ? " dying" : ""));
  known = std::move(pod);
  Use(known, 1);
  GangSeen& gang = gangs_.at(known.gang);
  if (gang.whole == 0 && PodsWithNode(known.gang) >= gang.gang.minimum) {
    gang.whole = change.version;
  }
  if (!took_room && TakesRoom(known)) CheckRoom(known);
  if (on_pod) on_pod(known);
}

void Judge::TakeDeletion(const Pod& pod, std::int64_t version) {
  trace_.Say("store", fmt::format("{} {} deleted", version, pod.name));
  const bool evicted = !pod.target.empty();
  if (evicted && !pods_.at(pod.name).dying) NoteEviction(pod, version);
  if (!gangs_.at(pod.gang).deleted && !evicted) Blame(broken_.lost, pod.name + " was deleted");
  pods_.erase(pod.name);
  if (!evicted) return;
  created_.erase(pod.name);                                          // it may come back
  if (PodsWithNode(pod.gang) == 0) gangs_.at(pod.gang).started = 0;  // it begins anew
  if (on_gone) on_gone(pod);
}

void Judge::NoteEviction(const Pod& pod, std::int64_t version) {
  ++evictions_;
  GangSeen& gang = gangs_.at(pod.gang);
  gang.evicted = version;
  if (pod.target == pod.gang) {
    if (PodsWithNode(pod.gang) < gang.gang.minimum) return;
    return Blame(broken_.half_evicted, fmt::format("{} was taken back and is whole", pod.gang));
  }
  if (const auto served = gangs_.find(pod.target); served != gangs_.end()) {
    served->second.served = version;
  }
}

void Judge::Use(const Pod& pod, std::int64_t sign) {
  if (TakesRoom(pod)) nodes_.at(pod.node).used += sign * pod.cpus;
}

void Judge::CheckRoom(const Pod& pod) {
  const Node& node = nodes_.at(pod.node);
  if (node.used <= node.cpus) return;
  // Nobody can take back what a process has sent that is gone; docs/scheduler.md says so.
  const bool late = std::any_of(pods_.begin(), pods_.end(), [&](const auto& other) {
    const std::string path = fmt::format("{}/{}/binding", kPods, other.first);
    return other.second.node == pod.node && late_binds_.contains(path);
  });
  excused_ = excused_ || late;
  if (late) return;
  Blame(
      broken_.over_committed,
      fmt::format("{} has {} CPUs, {} are used with {}", pod.node, node.cpus, node.used, pod.name));
}

void Judge::CheckCreated(const Pod& pod) {
  // A request that is on its way when its Job is deleted may still arrive; the pod is collected.
  if (!created_.insert(pod.name).second && !gangs_.at(pod.gang).deleted) {
    Blame(broken_.created_twice, pod.name + " was there before");
  }
  const Gang& gang = gangs_.at(pod.gang).gang;
  for (int i = 0; i < gang.pods; ++i) {
    if (pod.name == gang.PodName(i)) return;
  }
  Blame(broken_.created_twice, fmt::format("{} is one more than {} pods", pod.name, gang.pods));
}

void Judge::SeeLateBind(const std::string& path) {
  late_binds_.insert(path);
}

void Judge::SeeWrite(const std::string& lease,
                     const std::string& identity,
                     const net::HttpRequest& request) {
  const std::string holder =
      TextAt(server_.Get(fmt::format("{}/{}", kLeases, lease)), {"spec", "holderIdentity"});
  if (holder == identity) return;
  Blame(broken_.without_lease,
        fmt::format("{} sends {} {}, and {} has the lease",
                    identity,
                    request.method,
                    request.path,
                    holder.empty() ? "nobody" : holder));
}

int Judge::PodsWithNode(const std::string& gang) const {
  int placed = 0;
  for (const auto& [name, pod] : pods_) placed += pod.gang == gang && !pod.node.empty() ? 1 : 0;
  return placed;
}

int Judge::Slots(std::int64_t cpus, std::int64_t since) const {
  std::map<std::string, std::int64_t> free;
  for (const auto& [name, node] : nodes_) free[name] = node.cpus - node.used;
  for (const auto& [name, pod] : pods_) {
    if (TakesRoom(pod) && gangs_.at(pod.gang).started > since) free[pod.node] += pod.cpus;
  }
  std::int64_t slots = 0;
  for (const auto& [name, left] : free) slots += std::max<std::int64_t>(left, 0) / cpus;
  return static_cast<int>(slots);
}

void Judge::Conclude() {
  // A node with too many pods keeps others out of the room that is left.
  if (broken_.over_committed > 0 || excused_) return;
  for (const auto& [name, gang] : gangs_) {
    if (gang.deleted) continue;
    ConcludeGang(gang);
    ConcludeEvictions(gang);
    if (gang.gang.is_job) ConcludeJob(gang.gang);
  }
}

// What the controllers say of a Job is what its pods are.
void Judge::ConcludeJob(const Gang& gang) {
  const std::string phase =
      TextAt(server_.Get("/apis/batch.volcano.sh/v1alpha1/namespaces/default/jobs/" + gang.name),
             {"status", "state", "phase"});
  int running = 0;
  int succeeded = 0;
  for (const auto& [name, pod] : pods_) {
    if (pod.gang != gang.name) continue;
    running += pod.phase == "Running" ? 1 : 0;
    succeeded += pod.phase == "Succeeded" ? 1 : 0;
  }
  const bool ended = succeeded == gang.pods;
  if (!ended && running < gang.minimum) return;
  if (phase == (ended ? "Completed" : "Running")) return;
  Blame(broken_.lost,
        fmt::format("{} is {} with {} pods running and {} succeeded of {}",
                    gang.name,
                    phase,
                    running,
                    succeeded,
                    gang.pods));
}

bool Judge::IsKeptOut(const Gang& gang) const {
  const bool has_pods = std::any_of(
      pods_.begin(), pods_.end(), [&](const auto& pod) { return pod.second.gang == gang.name; });
  if (!gang.is_job || has_pods) return false;
  const json job = server_.Get(fmt::format("{}/{}", kJobs, gang.name));
  const json group =
      server_.Get(fmt::format("{}/{}-{}", kGroups, gang.name, TextAt(job, {"metadata", "uid"})));
  if (TextAt(group, {"status", "phase"}) != "Pending") return false;
  std::int64_t left = 0;
  for (const auto& [name, node] : nodes_) left += node.cpus - node.used;
  for (const auto& [name, other] : gangs_) {
    const int missing = other.gang.minimum - PodsWithNode(name);
    if (!other.deleted && other.gang.is_job && missing > 0) left -= missing * other.gang.cpus;
  }
  return left < 0;
}

void Judge::ConcludeGang(const GangSeen& seen) {
  const Gang& gang = seen.gang;
  const int placed = PodsWithNode(gang.name);
  if (placed >= gang.pods) return;
  if (IsKeptOut(gang)) return;
  const int missing = placed < gang.minimum ? gang.minimum - placed : 1;
  if (Slots(gang.cpus, kNobody) >= missing) {
    Blame(placed > 0 && placed < gang.minimum ? broken_.half_gangs : broken_.lost,
          fmt::format("{} has {} of {} pods (minimum {}), and room for more",
                      gang.name,
                      placed,
                      gang.pods,
                      gang.minimum));
  } else if (placed > 0 && placed < gang.minimum && Slots(gang.cpus, seen.started) >= missing) {
    Blame(broken_.half_gangs,
          fmt::format("{} has {} of {} pods (minimum {}), and a later gang has its room",
                      gang.name,
                      placed,
                      gang.pods,
                      gang.minimum));
  }
}

void Judge::ConcludeEvictions(const GangSeen& seen) {
  const Gang& gang = seen.gang;
  int left = 0;
  int old = 0;
  for (const auto& [name, pod] : pods_) {
    if (pod.gang != gang.name || pod.node.empty()) continue;
    ++left;
    if (TakesRoom(pod) && pod.bound_since < seen.evicted) ++old;
  }
  if (old > 0 && left < gang.minimum) {
    Blame(broken_.half_evicted,
          fmt::format("{} runs on with {} of its {} pods", gang.name, left, gang.minimum));
  }
  if (seen.served == 0 || seen.whole != 0) return;
  const bool others = std::any_of(gangs_.begin(), gangs_.end(), [&](const auto& entry) {
    const Gang& other = entry.second.gang;
    const bool higher =
        other.priority == "high" || (other.priority == "middle" && gang.priority == "low");
    return other.name != gang.name && higher && entry.second.bound > seen.served;
  });
  if (!others) {
    Blame(broken_.in_vain, fmt::format("pods went for {}, which never started", gang.name));
  }
}

void Judge::Blame(int& count, std::string what) {
  ++count;
  trace_.Say("BROKEN", what);
  problems_.push_back(std::move(what));
}

}  // namespace strata::histories
