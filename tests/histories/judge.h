#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/histories/server.h"
#include "tests/histories/trace.h"

namespace strata::histories {

// A gang as its user asked for it: equal pods.
struct Gang {
  std::string name;
  std::string priority;  // of a PriorityClass
  int pods = 1;
  int minimum = 1;
  std::int64_t cpus = 1;  // of each pod
  bool is_job = false;    // a Job, whose pods the controllers create

  [[nodiscard]] std::string PodName(int number) const {
    return name + (is_job ? "-worker-" : "-") + std::to_string(number);
  }
};

// How often each promise was broken in a history.
struct Broken {
  int lost = 0;
  int bound_twice = 0;
  int half_gangs = 0;
  int over_committed = 0;
  int created_twice = 0;
  int without_lease = 0;
  int half_evicted = 0;
  int in_vain = 0;

  Broken& operator+=(const Broken& other) {
    lost += other.lost;
    bound_twice += other.bound_twice;
    half_gangs += other.half_gangs;
    over_committed += other.over_committed;
    created_twice += other.created_twice;
    without_lease += other.without_lease;
    half_evicted += other.half_evicted;
    in_vain += other.in_vain;
    return *this;
  }
};

// Sees every version of every pod in the store, and says what must not be:
//
// * over-committed: the pods of a node ask for more than it has, and no bind of a process that was
//   gone by then is among them;
// * bound twice: a pod has another node than before;
// * lost: a pod that nobody asked to delete is gone; or, at the end, one waits that has room;
// * half gangs: at the end a gang has some of its pods but not its minimum, and room for the rest;
//   room that a gang which started later has taken counts, too;
// * created twice: a pod of a Job comes that was there before, or that the Job does not ask for;
// * without a lease: a process sends what only the holder of a lease may write, and is not it;
// * half evicted: at the end a gang of which pods were evicted runs on with fewer than its minimum;
//   or a gang is taken back that has its minimum;
// * in vain: at the end a gang for which pods were evicted has never had its minimum, and no gang
//   of higher priority has got a node since.
class Judge {
 public:
  struct Pod {
    std::string name;
    std::string uid;
    std::string gang;
    std::int64_t cpus = 0;
    std::string node;
    std::string phase;
    bool dying = false;
    std::string target{};          // the gang for which it is evicted; "" for none
    std::int64_t bound_since = 0;  // the version of its bind
  };

  Judge(Server& server, Trace& trace);

  void AddNode(const std::string& name, std::int64_t cpus) { nodes_[name] = {cpus, 0}; }
  void AddGang(const Gang& gang) { gangs_[gang.name].gang = gang; }
  // The pods of the gang may go from now on.
  void AllowDeletion(const std::string& gang) { gangs_.at(gang).deleted = true; }
  [[nodiscard]] bool IsDeleted(const std::string& gang) const { return gangs_.at(gang).deleted; }
  // A bind is about to take effect whose sender is gone, and could not make it stale any more.
  void SeeLateBind(const std::string& path);
  // A process sends a write that only the holder of the lease may send.
  void SeeWrite(const std::string& lease,
                const std::string& identity,
                const net::HttpRequest& request);
  // Called for each change of a pod, inside the write to the store.
  std::function<void(const Pod&)> on_pod;
  // Called for each evicted pod that is gone.
  std::function<void(const Pod&)> on_gone;
  [[nodiscard]] const std::map<std::string, Pod>& pods() const { return pods_; }
  [[nodiscard]] int PodsWithNode(const std::string& gang) const;

  // The end: faults have stopped long ago.
  void Conclude();

  [[nodiscard]] const Broken& broken() const { return broken_; }
  [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
  [[nodiscard]] int binds() const { return binds_; }
  [[nodiscard]] int evictions() const { return evictions_; }
  [[nodiscard]] int changes() const { return changes_; }  // of pods

 private:
  struct Node {
    std::int64_t cpus = 0;
    std::int64_t used = 0;
  };
  struct GangSeen {
    Gang gang;
    bool deleted = false;
    std::int64_t started = 0;  // the version of its first bind; 0: none
    std::int64_t bound = 0;    // that of its last bind
    std::int64_t evicted = 0;  // the version of its last eviction
    std::int64_t served = 0;   // that of the last eviction for it
    std::int64_t whole = 0;    // when it first had its minimum
  };

  void TakeChanges();
  void TakeChange(const apiserver::Change& change);
  void Use(const Pod& pod, std::int64_t sign);
  void CheckRoom(const Pod& pod);
  void CheckCreated(const Pod& pod);
  void ConcludeJob(const Gang& gang);
  // Whether the Job waits for its queue: others that it has admitted may use what is free.
  [[nodiscard]] bool IsKeptOut(const Gang& gang) const;
  void TakeDeletion(const Pod& pod, std::int64_t version);
  void NoteEviction(const Pod& pod, std::int64_t version);
  void ConcludeGang(const GangSeen& seen);
  void ConcludeEvictions(const GangSeen& seen);
  // How many pods of that size find room, also in the room of gangs that started after `since`.
  [[nodiscard]] int Slots(std::int64_t cpus, std::int64_t since) const;
  void Blame(int& count, std::string what);

  Server& server_;
  Trace& trace_;
  apiserver::WatchPosition position_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, GangSeen> gangs_;
  std::map<std::string, Pod> pods_;
  std::set<std::string> created_;     // pods
  std::set<std::string> late_binds_;  // paths
  bool excused_ = false;              // a node is over-committed by one of them
  Broken broken_;
  int binds_ = 0;
  int evictions_ = 0;
  int changes_ = 0;
  std::vector<std::string> problems_;
  apiserver::ObjectStore::Token subscription_;
};

}  // namespace strata::histories
