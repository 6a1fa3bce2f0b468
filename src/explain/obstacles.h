#pragma once

#include <set>
#include <string>
#include <vector>

#include "explain/advice_commands.h"
#include "objects/job.h"
#include "objects/priority.h"
#include "whatif/cluster.h"

// What keeps a job from starting whatever room there is: nobody can make its pods, or nobody looks
// at them. Pure.
namespace strata {

struct Obstacle {
  std::string reason;   // "PriorityClassNotFound", "SchedulerNotFound"
  std::string message;  // what is wrong, without a full stop
  std::string advice;   // what to do
  AdviceCommand command;
  std::string name;  // of what is missing, as events about it have it

  bool operator==(const Obstacle&) const = default;
};

// PriorityClasses that the pods of the job are to have and that do not exist.
[[nodiscard]] std::set<std::string> MissingClasses(const objects::PriorityTable& classes,
                                                   const objects::Job& job);

// PriorityClasses that keep pods of "ns/podgroup" from being made; only in a running cluster is a
// class that is not among the objects one that does not exist. None once all pods exist.
[[nodiscard]] std::vector<Obstacle> FindMissingClasses(const CompletedObjects& objects,
                                                       const std::string& group);

// schedulerNames that nobody serves, of pods of "ns/podgroup" that no scheduler has looked at.
[[nodiscard]] std::vector<Obstacle> FindUnserved(const CompletedObjects& objects,
                                                 const std::string& group);

}  // namespace strata
