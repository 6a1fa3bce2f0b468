#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "kube/leadership.h"
#include "kube/pacing.h"
#include "kube/resource.h"

// Calls of the API as values, made here and carried out by Client. Bodies are JSON texts.
namespace strata::kube {

struct Call {
  std::string method;
  std::string path;
  std::string query;
  std::string content_type;  // "" without a body
  std::string body;
  Repeat repeat = Repeat::kHarmless;
  Duration timeout = std::chrono::seconds(30);  // of one attempt
  // A write waits for its place in ClientOptions::write_rate. False for the few that must not wait
  // behind others: a lease that is not renewed in time is lost.
  bool paced = true;
  // For what only the leader may do: asked before every attempt, which is given up when the
  // leadership ends. None: everybody may.
  std::shared_ptr<const Leadership> leadership;

  [[nodiscard]] bool IsWrite() const { return method != "GET" && method != "HEAD"; }
};

struct ListOptions {
  std::string label_selector;
  std::string field_selector;
  int limit = 0;     // 0: all at once
  std::string next;  // metadata.continue of the page before
};

// "labelSelector=a%3Db&limit=500"; "" when nothing is asked.
[[nodiscard]] std::string ListQuery(const ListOptions& options);

[[nodiscard]] Call GetCall(const ResourcePath& path);
[[nodiscard]] Call ListCall(const Resource& resource,
                            const std::string& ns,
                            const ListOptions& options);

// The path names the collection.
[[nodiscard]] Call CreateCall(const ResourcePath& path, std::string body);
// With metadata.resourceVersion in the body, a repeat that the server has already seen answers 409;
// nothing is written over.
[[nodiscard]] Call UpdateCall(const ResourcePath& path, std::string body);

enum class PatchType : std::uint8_t { kJson, kMerge, kStrategic, kApply };
struct PatchOptions {
  PatchType type = PatchType::kMerge;
  std::string field_manager;  // needed for kApply
  enum class Force : std::uint8_t { kNo, kYes };
  Force force = Force::kNo;
};
// Merge and apply patches say how the object is to be afterwards and may be repeated.
[[nodiscard]] Call PatchCall(const ResourcePath& path,
                             const PatchOptions& options,
                             std::string body);

struct DeleteOptions {
  std::optional<int> grace_seconds;
  std::string uid;          // "" any
  std::string version;      // "" any
  std::string propagation;  // "Foreground", "Background", "Orphan", "" as the server likes
};
// With a uid or version it may be repeated (404 when the server had seen the first): it cannot hit
// an object made since.
[[nodiscard]] Call DeleteCall(const ResourcePath& path, const DeleteOptions& options);

struct PodName {
  std::string ns;
  std::string name;
  std::string uid;           // "" any
  std::string version = {};  // "" any
};
// Puts the pod on the node and the annotations into the pod, in one step. A second bind answers
// 409, as does one of a pod that has changed since `version`.
[[nodiscard]] Call BindCall(const PodName& pod,
                            const std::string& node,
                            const std::map<std::string, std::string>& annotations);
// 429 when a disruption budget forbids it.
[[nodiscard]] Call EvictCall(const PodName& pod, const DeleteOptions& options);

}  // namespace strata::kube
