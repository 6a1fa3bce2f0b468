#include "controllers/job_plugins.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/base64.h"
#include "controllers/object_meta.h"
#include "controllers/plugin_arguments.h"
#include "json/access.h"
#include "json/dump.h"
#include "objects/expand_job.h"
#include "objects/volcano_keys.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using objects::Job;
using objects::JobTask;

constexpr std::string_view kHostsFolder = "/etc/volcano";
constexpr std::string_view kRootSsh = "/root/.ssh";

PluginArguments ArgumentsOf(const Job& job, const char* plugin) {
  const auto found = job.plugins.find(plugin);
  return PluginArguments(found == job.plugins.end() ? std::vector<std::string>() : found->second);
}

json& ListIn(json& object, const char* key) {
  json& list = object[key];
  if (!list.is_array()) list = json::array();
  return list;
}

bool HasNamed(const json& list, const std::string& name) {
  return std::any_of(
      list.begin(), list.end(), [&](const json& item) { return TextAt(item, {"name"}) == name; });
}

template <typename Visit>
void ForContainers(json& spec, Visit&& visit) {
  for (const char* key : {"containers", "initContainers"}) {
    const auto list = spec.find(key);
    if (list == spec.end() || !list->is_array()) continue;
    for (json& container : *list) {
      if (container.is_object()) visit(container);
    }
  }
}

void SetVariable(const json& variable, json& spec) {
  ForContainers(spec, [&](json& container) {
    json& variables = ListIn(container, "env");
    if (!HasNamed(variables, TextAt(variable, {"name"}))) variables.push_back(variable);
  });
}

void SetVariable(const std::string& name, const std::string& value, json& spec) {
  SetVariable({{"name", name}, {"value", value}}, spec);
}

void OpenPort(const std::string& name, std::int32_t port, json& spec) {
  for (json& container : ListIn(spec, "containers")) {
    if (!container.is_object()) continue;
    json& ports = ListIn(container, "ports");
    const bool open = std::any_of(ports.begin(), ports.end(), [&](const json& known) {
      return IntegerAt(known, {"containerPort"}) == port;
    });
    if (!open) ports.push_back({{"name", name}, {"containerPort", port}});
  }
}

std::string HostOf(const Job& job, const JobTask& task, std::int32_t index) {
  return objects::PodNameOf(job, task, index) + "." + job.meta.name;
}

std::vector<std::string> HostsOf(const Job& job, const JobTask& task) {
  std::vector<std::string> hosts;
  hosts.reserve(static_cast<std::size_t>(std::max(task.replicas, 0)));
  for (std::int32_t i = 0; i < task.replicas; ++i) hosts.push_back(HostOf(job, task, i));
  return hosts;
}

const JobTask* TaskNamed(const Job& job, const std::string& name) {
  const auto found = std::find_if(
      job.tasks.begin(), job.tasks.end(), [&](const JobTask& task) { return task.name == name; });
  return found == job.tasks.end() ? nullptr : &*found;
}

// The task in names of variables and files.
std::string Underscored(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::string VariableOf(const JobTask& task, const char* suffix) {
  std::string name = "VC_" + Underscored(task.name) + "_" + suffix;
  for (char& c : name) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

std::string HostsMapOf(const Job& job) {
  return job.meta.name + "-svc";
}

// --- svc

void ApplySvc(const Job& job, PodPlace place, json& spec) {
  const JobTask& task = job.tasks[place.task];
  const PluginArguments arguments = ArgumentsOf(job, "svc");
  if (TextAt(spec, {"hostname"}).empty()) {
    spec["hostname"] = objects::PodNameOf(job, task, place.index);
  }
  if (TextAt(spec, {"subdomain"}).empty()) spec["subdomain"] = job.meta.name;
  const std::string map = HostsMapOf(job);
  if (arguments.Flag("inject-hosts-env", true)) {
    for (const JobTask& other : job.tasks) {
      for (const char* suffix : {"HOSTS", "NUM"}) {
        const std::string key = VariableOf(other, suffix);
        SetVariable(
            {{"name", key}, {"valueFrom", {{"configMapKeyRef", {{"name", map}, {"key", key}}}}}},
            spec);
      }
    }
  }
  MountVolume({.volume = {{"name", map}, {"configMap", {{"name", map}}}},
               .mount = {{"name", map}, {"mountPath", kHostsFolder}}},
              spec);
}

json HostsMap(const Job& job) {
  json data = json::object();
  for (const JobTask& task : job.tasks) {
    const std::vector<std::string> hosts = HostsOf(job, task);
    data[Underscored(task.name) + ".host"] = fmt::format("{}", fmt::join(hosts, "\n"));
    data[VariableOf(task, "HOSTS")] = fmt::format("{}", fmt::join(hosts, ","));
    data[VariableOf(task, "NUM")] = std::to_string(task.replicas);
  }
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", OwnedMetadata(job, HostsMapOf(job))},
          {"data", std::move(data)}};
}

json HeadlessService(const Job& job) {
  json spec = {{"clusterIP", "None"},
               {"selector",
                {{std::string(objects::kJobNameKey), job.meta.name},
                 {std::string(objects::kJobNamespaceKey), job.meta.ns}}},
               {"ports",
                json::array({{{"name", "placeholder-volcano"},
                              {"port", 1},
                              {"protocol", "TCP"},
                              {"targetPort", 1}}})}};
  if (ArgumentsOf(job, "svc").Flag("publish-not-ready-addresses", false)) {
    spec["publishNotReadyAddresses"] = true;
  }
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", OwnedMetadata(job, job.meta.name)},
          {"spec", std::move(spec)}};
}

// Pods of the job, and nobody else, may call them.
json PolicyAmongPods(const Job& job) {
  const json pods = {{"matchLabels",
                      {{std::string(objects::kJobNameKey), job.meta.name},
                       {std::string(objects::kJobNamespaceKey), job.meta.ns}}}};
  return {{"apiVersion", "networking.k8s.io/v1"},
          {"kind", "NetworkPolicy"},
          {"metadata", OwnedMetadata(job, job.meta.name)},
          {"spec",
           {{"podSelector", pods},
            {"ingress", json::array({{{"from", json::array({{{"podSelector", pods}}})}}})},
            {"policyTypes", json::array({"Ingress"})}}}};
}

// --- ssh

std::string SshSecretOf(const Job& job) {
  return job.meta.name + "-ssh";
}

std::string SshConfig(const Job& job) {
  std::string text = "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n";
  for (const JobTask& task : job.tasks) {
    for (std::int32_t i = 0; i < task.replicas; ++i) {
      text += fmt::format(
          "Host {}\n  HostName {}\n", objects::PodNameOf(job, task, i), HostOf(job, task, i));
    }
  }
  return text;
}

void ApplySsh(const Job& job, json& spec) {
  constexpr std::int32_t kOwnerOnly = 0600;
  constexpr std::int32_t kReadable = 0644;  // for users other than root
  const std::string folder = ArgumentsOf(job, "ssh").Text("ssh-key-file-path", kRootSsh);
  const std::string secret = SshSecretOf(job);
  json items = json::array();
  for (const char* key : {"id_rsa", "id_rsa.pub", "authorized_keys", "config"}) {
    items.push_back({{"key", key}, {"path", std::string(".ssh/") + key}});
  }
  MountVolume({.volume = {{"name", secret},
                          {"secret",
                           {{"secretName", secret},
                            {"items", std::move(items)},
                            {"defaultMode", folder == kRootSsh ? kOwnerOnly : kReadable}}}},
               .mount = {{"name", secret}, {"mountPath", folder}, {"subPath", ".ssh"}}},
              spec);
}

// --- frameworks

// An init container that ends when the master takes connections, or fails when its time is over.
void WaitForMaster(const PluginArguments& arguments, json& spec) {
  constexpr std::int32_t kSeconds = 300;
  constexpr const char* kName = "wait-for-master";
  constexpr const char* kScript =
      "end=$(($(date +%s) + WAIT_SECONDS)); until nc -z -w 2 \"$MASTER_ADDR\" \"$MASTER_PORT\"; do "
      "if [ \"$(date +%s)\" -ge \"$end\" ]; then "
      "echo \"no master at $MASTER_ADDR:$MASTER_PORT\" >&2; exit 1; fi; sleep 1; done";
  json& containers = ListIn(spec, "initContainers");
  if (HasNamed(containers, kName)) return;
  const std::int32_t patience = arguments.Number("wait-master-timeout", kSeconds);
  json container = {
      {"name", kName},
      {"image", arguments.Text("wait-master-image", "busybox:1.36.1")},
      {"command", {"sh", "-c", kScript}},
      {"env", json::array({{{"name", "WAIT_SECONDS"}, {"value", std::to_string(patience)}}})}};
  containers.insert(containers.begin(), std::move(container));
}

void ApplyPytorch(const Job& job, PodPlace place, json& spec) {
  constexpr std::int32_t kPort = 23456;
  const PluginArguments arguments = ArgumentsOf(job, "pytorch");
  const JobTask& task = job.tasks[place.task];
  const JobTask* master = TaskNamed(job, arguments.Text("master", "master"));
  const bool is_master = master != nullptr && task.name == master->name;
  if (master == nullptr || (!is_master && task.name != arguments.Text("worker", "worker"))) return;
  const std::int32_t port = arguments.Port("port", kPort);
  std::int64_t size = 0;
  for (const JobTask& other : job.tasks) size += other.replicas;
  if (!is_master && arguments.Flag("wait-master-enabled", false)) WaitForMaster(arguments, spec);
  SetVariable("MASTER_ADDR", HostOf(job, *master, 0), spec);
  SetVariable("MASTER_PORT", std::to_string(port), spec);
  SetVariable("WORLD_SIZE", std::to_string(size), spec);
  SetVariable("RANK", std::to_string(is_master ? 0 : place.index + 1), spec);
  OpenPort("pytorchjob-port", port, spec);
}

void ApplyMpi(const Job& job, PodPlace place, json& spec) {
  constexpr std::int32_t kPort = 22;
  const PluginArguments arguments = ArgumentsOf(job, "mpi");
  const JobTask* workers = TaskNamed(job, arguments.Text("worker", "worker"));
  if (job.tasks[place.task].name == arguments.Text("master", "master") && workers != nullptr) {
    SetVariable("MPI_HOST", fmt::format("{}", fmt::join(HostsOf(job, *workers), ",")), spec);
  }
  OpenPort("mpijob-port", arguments.Port("port", kPort), spec);
}

void ApplyTensorflow(const Job& job, PodPlace place, json& spec) {
  constexpr std::int32_t kPort = 2222;
  const PluginArguments arguments = ArgumentsOf(job, "tensorflow");
  const std::int32_t port = arguments.Port("port", kPort);
  json cluster = json::object();
  std::string role_here;
  for (const char* role : {"ps", "worker", "chief", "evaluator"}) {
    const JobTask* task = TaskNamed(job, arguments.Text(role, role));
    if (task == nullptr) continue;
    if (task->name == job.tasks[place.task].name) role_here = role;
    json hosts = json::array();
    for (const std::string& host : HostsOf(job, *task)) {
      hosts.push_back(fmt::format("{}:{}", host, port));
    }
    cluster[role] = std::move(hosts);
  }
  if (role_here.empty()) return;
  const json config = {{"cluster", std::move(cluster)},
                       {"task", {{"type", role_here}, {"index", place.index}}}};
  SetVariable("TF_CONFIG", DumpJson(config), spec);
  OpenPort("tfjob-port", port, spec);
}

}  // namespace

void MountVolume(const MountedVolume& mounted, json& spec) {
  json& volumes = ListIn(spec, "volumes");
  if (!HasNamed(volumes, TextAt(mounted.volume, {"name"}))) volumes.push_back(mounted.volume);
  const std::string& path = TextAt(mounted.mount, {"mountPath"});
  ForContainers(spec, [&](json& container) {
    json& mounts = ListIn(container, "volumeMounts");
    const bool taken = std::any_of(mounts.begin(), mounts.end(), [&](const json& mount) {
      return TextAt(mount, {"mountPath"}) == path;
    });
    if (!taken) mounts.push_back(mounted.mount);
  });
}

void ApplyPlugins(const Job& job, PodPlace place, json& pod) {
  json& spec = pod["spec"];
  const auto has = [&](const char* plugin) { return job.plugins.contains(plugin); };
  if (has("env")) {
    for (const char* name : {"VK_TASK_INDEX", "VC_TASK_INDEX"}) {
      SetVariable(name, std::to_string(place.index), spec);
    }
  }
  if (has("svc")) ApplySvc(job, place, spec);
  if (has("ssh")) ApplySsh(job, spec);
  if (has("pytorch")) ApplyPytorch(job, place, spec);
  if (has("mpi")) ApplyMpi(job, place, spec);
  if (has("tensorflow")) ApplyTensorflow(job, place, spec);
}

std::vector<std::string> MissingPlugins(const Job& job) {
  std::vector<std::string> missing;
  for (const char* plugin : {"hcclrank", "ray"}) {
    if (job.plugins.contains(plugin)) missing.emplace_back(plugin);
  }
  return missing;
}

std::vector<PluginObject> MakePluginObjects(const Job& job) {
  if (!job.plugins.contains("svc")) return {};
  std::vector<PluginObject> objects = {{kube::kConfigMaps, HostsMap(job)},
                                       {kube::kServices, HeadlessService(job)}};
  if (!ArgumentsOf(job, "svc").Flag("disable-network-policy", false)) {
    objects.push_back({kNetworkPolicies, PolicyAmongPods(job)});
  }
  return objects;
}

json MakeSshConfig(const Job& job) {
  if (!job.plugins.contains("ssh")) return nullptr;
  return {{"metadata", {{"name", SshSecretOf(job)}, {"namespace", job.meta.ns}}},
          {"data", {{"config", EncodeBase64(SshConfig(job))}}}};
}

json MakeSshSecret(const Job& job, const MakeSshKeys& make_keys) {
  if (!job.plugins.contains("ssh")) return nullptr;
  const PluginArguments arguments = ArgumentsOf(job, "ssh");
  SshKeys keys{.private_pem = arguments.Text("ssh-private-key", ""),
               .public_line = arguments.Text("ssh-public-key", "")};
  if (keys.private_pem.empty() || keys.public_line.empty()) keys = make_keys();
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"type", "Opaque"},
          {"metadata", OwnedMetadata(job, SshSecretOf(job))},
          {"data",
           {{"id_rsa", EncodeBase64(keys.private_pem)},
            {"id_rsa.pub", EncodeBase64(keys.public_line)},
            {"authorized_keys", EncodeBase64(keys.public_line)},
            {"config", EncodeBase64(SshConfig(job))}}}};
}

}  // namespace strata::controllers
