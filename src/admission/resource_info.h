#pragma once

#include <string>

namespace strata::admission {

// A kind in one version, as far as the rules and their messages need to know it.
struct ResourceInfo {
  std::string group;       // "" is the core group
  std::string version;     // "v1"
  std::string kind;        // "Pod"
  std::string plural;      // "pods"
  bool custom = false;     // defined by a CustomResourceDefinition
  bool read_only = false;  // create only, nothing is stored: SelfSubjectAccessReview

  // "jobs.batch.volcano.sh", "pods": the name of the resource in messages and in the store.
  [[nodiscard]] std::string FullName() const {
    return group.empty() ? plural : plural + "." + group;
  }
  // "batch.volcano.sh/v1alpha1", "v1".
  [[nodiscard]] std::string ApiVersion() const {
    return group.empty() ? version : group + "/" + version;
  }
};

}  // namespace strata::admission
