#pragma once

#include <map>
#include <string>

#include "objects/meta.h"
#include "whatif/cluster.h"

namespace strata {

// "Deployment", "web": what controls a pod, and whether it is what people made. A ReplicaSet is
// named as its Deployment where the pod's label pod-template-hash says so.
struct Controller {
  std::string kind;  // "" when nothing does
  std::string name;
};
[[nodiscard]] Controller ControllerOf(const objects::Metadata& pod);

// What people call what is scheduled: the Job, pod or Deployment that a PodGroup was made for.
class OwnNames {
 public:
  explicit OwnNames(const CompletedObjects& objects);

  // "default/train" for "default/train-7d1c..."; a PodGroup that somebody wrote is called by its
  // own name.
  [[nodiscard]] const std::string& Of(const std::string& group) const&;
  const std::string& Of(const std::string& group) const&& = delete;

 private:
  std::map<std::string, std::string> names_;  // by "ns/podgroup"
};

}  // namespace strata
