#pragma once

#include <map>
#include <memory>
#include <string>

#include "model/cluster_state.h"

namespace strata::testing {

// A cluster as its objects say it is, by name, and the state that they make.
struct Objects {
  struct Pod {
    std::string job;
    TaskSpec spec;  // its job left open
  };
  // What a scheduler has noted on a PodGroup.
  struct Noted {
    std::string job;                           // its HyperNode, "" if none
    std::map<std::string, std::string> parts;  // and those of its sub-jobs, by name
  };

  ResourceNames resources;  // of all amounts below
  std::map<std::string, NodeSpec> nodes;
  std::map<std::string, HyperNodeSpec> hypernodes;
  std::map<std::string, QueueSpec> queues;
  std::map<std::string, JobSpec> jobs;
  std::map<std::string, Pod> tasks;
  std::map<std::string, Noted> noted;  // by job

  // Every object once, in order of names.
  [[nodiscard]] std::unique_ptr<ClusterState> Make() const;
  // What `state` says of pods, PodGroups and what was noted on them, after a cycle.
  void Follow(const ClusterState& state);
};

}  // namespace strata::testing
