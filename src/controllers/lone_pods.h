#pragma once

#include <functional>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "controllers/cache.h"
#include "controllers/plan.h"

namespace strata::controllers {

// The podgroup controller: pods that belong to no Job share the PodGroup "podgroup-<uid>" of their
// owner, which is made for the first of them and deleted after the last: a ReplicaSet that a
// rollout has scaled to nothing leaves none behind. A pod without an owner has one of its own,
// which its deletion takes along.
//
// All that concerns one owner has one key, so that a PodGroup is not deleted while a pod joins it
// (Controller). Thread-safe.
class LonePods {
 public:
  // `is_ours` says whether pods of that scheduler are looked at. `cache` must outlive it.
  LonePods(const Cache& cache, std::function<bool(const std::string& scheduler)> is_ours);

  // REQUIRES: no Job controls the pod.
  [[nodiscard]] static std::string KeyOf(const PodSeen& pod);
  // None for a PodGroup that is not the one of an owner.
  [[nodiscard]] static std::optional<std::string> KeyOfGroup(const nlohmann::json& group);

  [[nodiscard]] Plan Decide(const std::string& key) const;

 private:
  [[nodiscard]] Plan DecideOwner(const std::string& ns, const std::string& uid) const;
  // Adds what a pod without a PodGroup needs.
  void AddPod(const kube::ObjectKey& key, Plan& plan) const;

  const Cache& cache_;
  const std::function<bool(const std::string&)> is_ours_;
};

}  // namespace strata::controllers
