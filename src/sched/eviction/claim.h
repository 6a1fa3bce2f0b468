#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "model/workload.h"

namespace strata {

// What is kept for a gang whose victims are still going: where each of its pods is to run. It
// outlives the cycle that decided it, and the configuration, so objects are known by name and uid.
struct GangClaim {
  struct Pod {
    std::string name;  // "namespace/pod"
    std::string uid;
    std::string node;

    bool operator==(const Pod&) const = default;
  };
  struct Victim {
    std::string name;
    std::string uid;
    Time until{};  // gone by then, or the claim ends

    bool operator==(const Victim&) const = default;
  };
  // What of the job decides where its pods may be. When it changes, the places are no longer right.
  struct Shape {
    std::int32_t min_available = 0;
    std::map<std::string, std::int32_t, std::less<>> min_task_member;
    TopologySpec topology;
    std::vector<SubGroupPolicy> sub_groups;

    bool operator==(const Shape&) const = default;
  };

  std::string job;  // "namespace/podgroup"
  std::string uid;
  Shape shape;
  std::string hypernode;  // that holds all its pods; "": the cluster as a whole
  std::string evicts;     // "gangpreempt evicts 1 gang, 2 pods for HyperNode s0 (tier 1)"
  std::vector<Pod> pods;  // all that the gang needs and has not got
  std::vector<Victim> victims;
  Time since{};
  bool recovered = false;  // of a scheduler before this one

  bool operator==(const GangClaim&) const = default;
};

[[nodiscard]] inline GangClaim::Shape ShapeOf(const JobSpec& spec) {
  return {spec.min_available, spec.min_task_member, spec.topology, spec.sub_groups};
}

// A claim that is over.
struct ClaimEnd {
  enum class Kind : std::uint8_t {
    kStarted,  // its gang has its nodes
    kTaken,    // a job of higher priority needed the room
    kInVain,   // pods went, and the gang does not start
    kVoid,     // nobody is known to have gone for it
  };
  GangClaim claim;
  Kind kind = Kind::kStarted;
  std::string why;  // in one sentence, but for kStarted
};

}  // namespace strata
