#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "controllers/job_pods.h"
#include "kube/resource.h"
#include "objects/job.h"

// The plugins of a Job (spec.plugins): what they put into its pods, and the objects they make.
namespace strata::controllers {

struct MountedVolume {
  nlohmann::json volume;  // of spec.volumes
  nlohmann::json mount;   // of each container
};
// Adds the volume and mounts it in every container and init container. Where the pod has a volume
// of that name or something at that path, its own counts.
void MountVolume(const MountedVolume& mounted, nlohmann::json& spec);

// Adds to a pod of the job what the job's plugins are for. Variables that the template sets itself
// stay.
void ApplyPlugins(const objects::Job& job, PodPlace place, nlohmann::json& pod);

// Those of Volcano's plugins that the job names and that are not here.
[[nodiscard]] std::vector<std::string> MissingPlugins(const objects::Job& job);

// Not every API server has these: strata apiserver has not.
inline constexpr kube::Resource kNetworkPolicies{
    "networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy"};

struct PluginObject {
  kube::Resource resource;
  nlohmann::json object;
};
// What the plugins want to exist beside the pods, but keys: it follows the size of the job.
[[nodiscard]] std::vector<PluginObject> MakePluginObjects(const objects::Job& job);

// An RSA key pair in the forms that ssh reads.
struct SshKeys {
  std::string private_pem;  // PKCS#1
  std::string public_line;  // "ssh-rsa AAAA..."
};
using MakeSshKeys = std::function<SshKeys()>;

// The Secret of the ssh plugin; null when the job does not have that plugin. `make_keys` is asked
// when the plugin's arguments bring no keys.
[[nodiscard]] nlohmann::json MakeSshSecret(const objects::Job& job, const MakeSshKeys& make_keys);
// Its name and what of it follows the size of the job; null likewise.
[[nodiscard]] nlohmann::json MakeSshConfig(const objects::Job& job);

}  // namespace strata::controllers
