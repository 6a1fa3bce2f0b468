#include "virtual_nodes/pod_status.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "virtual_nodes/decide.h"

namespace strata::virtual_nodes {
namespace {

using Json = nlohmann::json;
using Role = SeenContainer::Role;

std::string SecondOf(Time time) {
  return FormatTimestamp(std::chrono::floor<std::chrono::seconds>(time));
}

Json Condition(const char* type, bool status, const char* reason, Time now) {
  Json condition = {{"type", type},
                    {"status", status ? "True" : "False"},
                    {"lastProbeTime", nullptr},
                    {"lastTransitionTime", SecondOf(now)}};
  if (!std::string_view(reason).empty()) condition["reason"] = reason;
  return condition;
}

Json Terminated(int exit_code, Time start, Time end) {
  const Json terminated = {{"exitCode", exit_code},
                           {"reason", exit_code == 0 ? "Completed" : "Error"},
                           {"startedAt", SecondOf(start)},
                           {"finishedAt", SecondOf(end)}};
  return Json::object({{"terminated", terminated}});
}

Json StatusOf(const SeenPod& pod, const SeenContainer& container, bool runs, Json state) {
  return {{"name", container.name},
          {"image", container.image},
          {"imageID", ""},
          {"containerID", fmt::format("virtual://{}/{}", pod.uid, container.name)},
          {"ready", runs || container.role == Role::kInit},
          {"started", runs},
          {"restartCount", 0},
          {"state", std::move(state)}};
}

// Both lists, in the order of the spec; init containers were done at the start.
void AddContainers(const SeenPod& pod, Time start, const Json& state, bool runs, Json& status) {
  status["containerStatuses"] = Json::array();
  for (const SeenContainer& container : pod.containers) {
    const char* list =
        container.role == Role::kMain ? "containerStatuses" : "initContainerStatuses";
    if (container.role == Role::kInit) {
      status[list].push_back(StatusOf(pod, container, false, Terminated(0, start, start)));
    } else {
      status[list].push_back(StatusOf(pod, container, runs, state));
    }
  }
}

}  // namespace

Json RunningStatus(const SeenPod& pod, const std::string& host_ip, Time now) {
  const std::string ip = pod.host_network && !host_ip.empty() ? host_ip : MadeUpAddress(pod.uid);
  Json status = {{"phase", "Running"},
                 {"startTime", SecondOf(now)},
                 {"podIP", ip},
                 {"podIPs", Json::array({Json::object({{"ip", ip}})})}};
  if (!host_ip.empty()) {
    status["hostIP"] = host_ip;
    status["hostIPs"] = Json::array({Json::object({{"ip", host_ip}})});
  }
  for (const char* type : {"Initialized", "Ready", "ContainersReady"}) {
    status["conditions"].push_back(Condition(type, true, "", now));
  }
  const Json started = Json::object({{"startedAt", SecondOf(now)}});
  AddContainers(pod, now, Json::object({{"running", started}}), true, status);
  return status;
}

Json EndedStatus(const SeenPod& pod, Time start, Time end) {
  const bool good = pod.exit_code == 0;
  Json status = {{"phase", good ? "Succeeded" : "Failed"}};
  const char* reason = good ? "PodCompleted" : "PodFailed";
  for (const char* type : {"Ready", "ContainersReady"}) {
    status["conditions"].push_back(Condition(type, false, reason, end));
  }
  AddContainers(pod, start, Terminated(pod.exit_code, start, end), false, status);
  return status;
}

// In the words of a kubelet.
Json RejectedStatus(const std::string& why, Time now) {
  return {{"phase", "Failed"},
          {"reason", "UnexpectedAdmissionError"},
          {"message",
           fmt::format("Pod was rejected: Allocate failed due to {}, which is unexpected", why)},
          {"startTime", SecondOf(now)}};
}

}  // namespace strata::virtual_nodes
