#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "apiserver/views/age.h"
#include "apiserver/views/columns.h"
#include "base/timestamp.h"
#include "json/access.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

// What the statuses of the containers add up to.
struct PodLook {
  std::string reason;
  std::int64_t restarts = 0;
  std::size_t ready = 0;
  std::optional<Time> last_restart;
};

std::string Ended(const json& terminated, std::string_view prefix) {
  if (const std::string& reason = TextAt(terminated, {"reason"}); !reason.empty()) {
    return fmt::format("{}{}", prefix, reason);
  }
  const std::int64_t signal = IntegerAt(terminated, {"signal"});
  if (signal != 0) return fmt::format("{}Signal:{}", prefix, signal);
  return fmt::format("{}ExitCode:{}", prefix, IntegerAt(terminated, {"exitCode"}));
}

void CountRestarts(const json& status, PodLook& look) {
  look.restarts += IntegerAt(status, {"restartCount"});
  const auto ended = ParseTimestamp(TextAt(status, {"lastState", "terminated", "finishedAt"}));
  if (ended && (!look.last_restart || *look.last_restart < *ended)) look.last_restart = *ended;
}

bool IsSidecar(const json& spec, const std::string& name) {
  for (const json& container : ListAt(spec, {"initContainers"})) {
    if (TextAt(container, {"name"}) == name) {
      return TextAt(container, {"restartPolicy"}) == "Always";
    }
  }
  return false;
}

// Whether the pod is still busy with its init containers; then the reason says with which.
bool LooksAtInit(const json& spec, const json& status, PodLook& look) {
  const std::size_t all = ListAt(spec, {"initContainers"}).size();
  std::size_t index = 0;
  for (const json& container : ListAt(status, {"initContainerStatuses"})) {
    const std::size_t place = index++;
    CountRestarts(container, look);
    const bool sidecar = IsSidecar(spec, TextAt(container, {"name"}));
    const json* terminated = FindAt(container, {"state", "terminated"});
    if (terminated != nullptr && IntegerAt(*terminated, {"exitCode"}) == 0) continue;
    if (sidecar && BoolAt(container, {"started"})) {
      if (BoolAt(container, {"ready"})) ++look.ready;
      continue;
    }
    const std::string& waiting = TextAt(container, {"state", "waiting", "reason"});
    if (terminated != nullptr) {
      look.reason = Ended(*terminated, "Init:");
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      look.reason = "Init:" + waiting;
    } else {
      look.reason = fmt::format("Init:{}/{}", place, all);
    }
    return true;
  }
  return false;
}

bool HasCondition(const json& status, std::string_view type) {
  for (const json& condition : ListAt(status, {"conditions"})) {
    if (TextAt(condition, {"type"}) == type) return TextAt(condition, {"status"}) == "True";
  }
  return false;
}

void LookAtContainers(const json& status, PodLook& look) {
  bool running = false;
  const json& containers = ListAt(status, {"containerStatuses"});
  look.restarts = 0;
  // The first container has the last word.
  for (auto at = containers.rbegin(); at != containers.rend(); ++at) {
    CountRestarts(*at, look);
    const std::string& waiting = TextAt(*at, {"state", "waiting", "reason"});
    const json* terminated = FindAt(*at, {"state", "terminated"});
    if (!waiting.empty()) {
      look.reason = waiting;
    } else if (terminated != nullptr) {
      look.reason = Ended(*terminated, "");
    } else if (BoolAt(*at, {"ready"}) && FindAt(*at, {"state", "running"}) != nullptr) {
      running = true;
      ++look.ready;
    }
  }
  if (look.reason == "Completed" && running) {
    look.reason = HasCondition(status, "Ready") ? "Running" : "NotReady";
  }
}

std::string StatusReason(const json& status) {
  for (const json& condition : ListAt(status, {"conditions"})) {
    if (TextAt(condition, {"type"}) == "PodScheduled" &&
        TextAt(condition, {"reason"}) == "SchedulingGated") {
      return "SchedulingGated";
    }
  }
  const std::string& reason = TextAt(status, {"reason"});
  return reason.empty() ? TextAt(status, {"phase"}) : reason;
}

std::size_t CountContainers(const json& spec) {
  std::size_t count = ListAt(spec, {"containers"}).size();
  for (const json& container : ListAt(spec, {"initContainers"})) {
    if (TextAt(container, {"restartPolicy"}) == "Always") ++count;
  }
  return count;
}

PodLook LookAt(const json& object) {
  const json& spec = ObjectAt(object, {"spec"});
  const json& status = ObjectAt(object, {"status"});
  PodLook look;
  look.reason = StatusReason(status);
  const bool initializing = LooksAtInit(spec, status, look);
  if (!initializing || HasCondition(status, "Initialized")) LookAtContainers(status, look);
  if (FindAt(object, {"metadata", "deletionTimestamp"}) == nullptr) return look;
  const std::string& phase = TextAt(status, {"phase"});
  if (TextAt(status, {"reason"}) == "NodeLost") {
    look.reason = "Unknown";
  } else if (phase != "Succeeded" && phase != "Failed") {
    look.reason = "Terminating";
  }
  return look;
}

std::string ReadinessGates(const json& object) {
  const json& gates = ListAt(object, {"spec", "readinessGates"});
  if (gates.empty()) return "<none>";
  const auto passed = std::count_if(gates.begin(), gates.end(), [&](const json& gate) {
    return HasCondition(ObjectAt(object, {"status"}), TextAt(gate, {"conditionType"}));
  });
  return fmt::format("{}/{}", passed, gates.size());
}

}  // namespace

json PodCells(const json& object, Time now) {
  const PodLook look = LookAt(object);
  const json& addresses = ListAt(object, {"status", "podIPs"});
  std::string address = addresses.empty() ? "" : TextAt(addresses.front(), {"ip"});
  if (address.empty()) address = TextAt(object, {"status", "podIP"});
  std::string restarts = std::to_string(look.restarts);
  if (look.restarts != 0 && look.last_restart) {
    restarts += fmt::format(" ({} ago)", HumanDuration(now - *look.last_restart));
  }
  return {NameOf(object),
          fmt::format("{}/{}", look.ready, CountContainers(ObjectAt(object, {"spec"}))),
          look.reason,
          std::move(restarts),
          ObjectAge(object, now),
          OrNone(address),
          OrNone(TextAt(object, {"spec", "nodeName"})),
          OrNone(TextAt(object, {"status", "nominatedNodeName"})),
          ReadinessGates(object)};
}

}  // namespace strata::apiserver
