#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/name_rules.h"
#include "admission/pod_rules.h"
#include "base/quantity.h"
#include "json/access.h"
#include "objects/syntax.h"

namespace strata::admission {
namespace {

using nlohmann::json;

using NameSet = std::set<std::string, std::less<>>;

void CheckPortNumber(const json& port,
                     std::string_view key,
                     const std::string& field,
                     Problems& problems) {
  const std::int64_t number = IntegerAt(port, {key});
  const std::string error = PortNumberError(number);
  if (!error.empty()) problems.Invalid(fmt::format("{}.{}", field, key), number, error);
}

void CheckPort(const json& port, const std::string& field, NameSet& names, Problems& problems) {
  if (const std::string& name = TextAt(port, {"name"}); !name.empty()) {
    const std::string error = PortNameError(name);
    if (!error.empty()) problems.Invalid(field + ".name", name, error);
    if (!names.insert(name).second) problems.Duplicate(field + ".name", name);
  }
  if (IntegerAt(port, {"containerPort"}) == 0) {
    problems.Required(field + ".containerPort");
  } else {
    CheckPortNumber(port, "containerPort", field, problems);
  }
  if (IntegerAt(port, {"hostPort"}) != 0) CheckPortNumber(port, "hostPort", field, problems);
  const std::string& protocol = TextAt(port, {"protocol"});
  if (!protocol.empty() && protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
    problems.NotSupported(field + ".protocol", protocol, {"SCTP", "TCP", "UDP"});
  }
}

void CheckEnv(const json& container, const std::string& field, Problems& problems) {
  std::size_t index = 0;
  for (const json& variable : ListAt(container, {"env"})) {
    const std::string at = fmt::format("{}.env[{}]", field, index++);
    const std::string& name = TextAt(variable, {"name"});
    const bool printable = std::all_of(
        name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~' && c != '='; });
    if (name.empty()) {
      problems.Required(at + ".name");
    } else if (!printable) {
      problems.Invalid(at + ".name",
                       name,
                       "a valid environment variable name must consist only of printable ASCII "
                       "characters other than '='");
    }
    if (!TextAt(variable, {"value"}).empty() && FindAt(variable, {"valueFrom"}) != nullptr) {
      problems.Invalid(at + ".valueFrom", "", "may not be specified when `value` is not empty");
    }
  }
}

void CheckMounts(const json& container,
                 const std::string& field,
                 const NameSet& volumes,
                 Problems& problems) {
  std::size_t index = 0;
  NameSet paths;
  for (const json& mount : ListAt(container, {"volumeMounts"})) {
    const std::string at = fmt::format("{}.volumeMounts[{}]", field, index++);
    const std::string& name = TextAt(mount, {"name"});
    const std::string& path = TextAt(mount, {"mountPath"});
    if (name.empty()) {
      problems.Required(at + ".name");
    } else if (!volumes.contains(name)) {
      problems.NotFound(at + ".name", name);
    }
    if (path.empty()) {
      problems.Required(at + ".mountPath");
    } else if (!paths.insert(path).second) {
      problems.Invalid(at + ".mountPath", path, "must be unique");
    }
  }
}

void CheckImage(const json& container, const std::string& field, Problems& problems) {
  const std::string& image = TextAt(container, {"image"});
  if (image.empty()) {
    problems.Required(field + ".image");
  } else if (image.front() == ' ' || image.back() == ' ') {
    problems.Invalid(field + ".image", image, "must not have leading or trailing whitespace");
  }
  const std::string& policy = TextAt(container, {"imagePullPolicy"});
  if (!policy.empty() && policy != "Always" && policy != "IfNotPresent" && policy != "Never") {
    problems.NotSupported(field + ".imagePullPolicy", policy, {"Always", "IfNotPresent", "Never"});
  }
}

// What all containers of a pod must tell apart.
struct PodNames {
  NameSet containers;
  NameSet volumes;
  bool host_network = false;
};

void CheckContainer(const json& container,
                    const std::string& field,
                    PodNames& pod,
                    Problems& problems) {
  const std::string& name = TextAt(container, {"name"});
  if (name.empty()) {
    problems.Required(field + ".name");
  } else if (const std::string error = DnsLabelError(name); !error.empty()) {
    problems.Invalid(field + ".name", name, error);
  } else if (!pod.containers.insert(name).second) {
    problems.Duplicate(field + ".name", name);
  }
  CheckImage(container, field, problems);
  std::size_t index = 0;
  NameSet ports;
  for (const json& port : ListAt(container, {"ports"})) {
    const std::string at = fmt::format("{}.ports[{}]", field, index++);
    CheckPort(port, at, ports, problems);
    const std::int64_t number = IntegerAt(port, {"containerPort"});
    if (pod.host_network && IntegerAt(port, {"hostPort"}) != number) {
      problems.Invalid(
          at + ".containerPort", number, "must match `hostPort` when `hostNetwork` is true");
    }
  }
  CheckEnv(container, field, problems);
  CheckMounts(container, field, pod.volumes, problems);
  CheckContainerResources(ObjectAt(container, {"resources"}), field + ".resources", problems);
}

NameSet CheckVolumes(const json& spec, const std::string& field, Problems& problems) {
  NameSet names;
  std::size_t index = 0;
  for (const json& volume : ListAt(spec, {"volumes"})) {
    const std::string at = fmt::format("{}.volumes[{}].name", field, index++);
    const std::string& name = TextAt(volume, {"name"});
    if (name.empty()) {
      problems.Required(at);
    } else if (const std::string error = DnsLabelError(name); !error.empty()) {
      problems.Invalid(at, name, error);
    } else if (!names.insert(name).second) {
      problems.Duplicate(at, name);
    }
    const std::string claim = fmt::format("{}.volumes[{}].persistentVolumeClaim", field, index - 1);
    const json* source = FindAt(volume, {"persistentVolumeClaim"});
    if (source != nullptr && TextAt(*source, {"claimName"}).empty()) {
      problems.Required(claim + ".claimName");
    }
  }
  return names;
}

}  // namespace

void CheckContainers(const json& spec, const std::string& field, Problems& problems) {
  PodNames pod;
  pod.host_network = BoolAt(spec, {"hostNetwork"});
  pod.volumes = CheckVolumes(spec, field, problems);
  if (ListAt(spec, {"containers"}).empty()) problems.Required(field + ".containers");
  for (const std::string_view list : {"containers", "initContainers"}) {
    std::size_t index = 0;
    for (const json& container : ListAt(spec, {list})) {
      CheckContainer(container, fmt::format("{}.{}[{}]", field, list, index++), pod, problems);
    }
  }
}

}  // namespace strata::admission
