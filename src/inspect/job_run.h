#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "inspect/live_cluster.h"
#include "kube/json_text.h"
#include "objects/meta.h"

// Starting a Job from a command line, as `vcctl job run` does.
namespace strata::inspect {

struct NewJob {
  kube::ObjectKey key;
  std::string image = "busybox";
  std::int32_t replicas = 1;
  std::int32_t min_available = 1;
  objects::ResourceList requests;
  objects::ResourceList limits;
  std::string scheduler = "volcano";
  std::string queue;  // "": that of the server, default
  // Its pods are placed below a HyperNode of at most this tier, or not at all.
  std::optional<std::int32_t> highest_tier;
  std::vector<std::string> command;  // of its containers; none: that of the image
};

// The Job as a manifest in JSON: one task, whose pods and containers are called as the Job. Pure.
[[nodiscard]] std::string JobBody(const NewJob& job);

// The only Job of a manifest as JSON, in namespace `ns` unless it names one. kInvalidArgument, one
// line that names the file, when that holds no Job or several objects. Pure.
[[nodiscard]] Result<std::string> JobOfManifest(const std::string& file,
                                                const std::string& text,
                                                const std::string& ns);

// A body of the two above as YAML.
[[nodiscard]] std::string ToYaml(const std::string& body);

// The name of the Job that was created, "ns/name".
[[nodiscard]] Result<std::string> CreateJob(LiveCluster& cluster, const std::string& body);

}  // namespace strata::inspect
