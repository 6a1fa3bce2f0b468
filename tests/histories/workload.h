#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "tests/histories/judge.h"
#include "tests/histories/link.h"

namespace strata::histories {

// The users and the kubelets of a history: nodes, gangs of several priorities that come at random
// times, finish or are deleted. Where there are controllers, half of the gangs are Jobs. No fault
// hits them.
class Workload {
 public:
  enum class Jobs : std::uint8_t { kNone, kSome };
  Workload(const World& world, Judge& judge, Random random, Jobs jobs);

  // Nodes that gangs of low priority have filled long ago, and a configuration that evicts. To be
  // called before Start.
  void AddResidents();
  // Plans everything for the time until `end`.
  void Start(Duration end);
  // Something went wrong with a bind: perhaps a gang of high priority comes, and takes its room.
  void SendRival();
  // No gang finishes or is deleted any more.
  void Calm() { calm_ = true; }
  // A place that was not there before, so that the end shows whether somebody still schedules.
  void AddLastNode() { AddNode("node-last", 2); }

 private:
  void AddNode(const std::string& name, std::int64_t cpus);
  void AddPriorities();
  void AddLease(const char* name);
  Gang MakeGang(const char* priority);
  void Create(const Gang& gang);
  void CreateGroup(const Gang& gang);
  void CreatePod(const Gang& gang, int number);
  void CreateJob(const Gang& gang);
  void Delete(const Gang& gang);
  void DeleteJob(const Gang& gang);
  void PlanDeletion(const Gang& gang, Duration comes);
  void Collect(const std::string& pod);
  void AddConfiguration();
  void Settle(const Gang& gang, int number, const std::string& node);
  void FollowPod(const Judge::Pod& pod);
  void FinishGang(const std::string& gang);
  void SetPhase(const std::string& pod, const char* phase);

  const World& world_;
  Judge& judge_;
  Random random_;
  const Jobs jobs_;
  bool calm_ = false;
  bool evicts_ = false;
  std::map<std::string, Gang> gangs_;
  int gangs_made_ = 0;
  int rivals_ = 0;
  std::set<std::string> started_;    // pods
  std::set<std::string> collected_;  // pods that are about to be
  std::set<std::string> whole_;      // gangs
};

}  // namespace strata::histories
