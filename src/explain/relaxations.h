#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "explain/advice_commands.h"
#include "explain/holders.h"
#include "sched/config.h"
#include "whatif/cluster.h"
#include "whatif/run.h"

namespace strata {

// One change that alone would let a waiting job start, found by making it in a copy of the objects
// and solving again.
struct Relaxation {
  // In the order of the answer: what costs nobody anything first, what takes from others last.
  enum class Kind : std::uint8_t {
    kUngate,      // remove scheduling gates
    kOpenQueue,   // open a queue
    kUncordon,    // take cordoned nodes back into service
    kReady,       // nodes that are not ready come back
    kTolerate,    // tolerate one taint
    kDropTerm,    // drop one selector, affinity or spread term
    kQueueLimit,  // raise one limit or the weight of one queue
    kQuotaLimit,  // raise one limit of one ResourceQuota
    kHigherTier,  // allow a higher tier
    kFewerPods,   // start with fewer pods
    kEvict,       // configure an action that evicts
    kJobGone,     // one job that runs is gone
  } kind = Kind::kUngate;
  // "PodGroup default/train", "Queue small", "Node n3", "scheduler configuration"
  std::string object;
  std::string field;               // "spec.networkTopology.highestTierAllowed"; "" for kJobGone
  std::string from;                // as written in manifests; "" for nothing
  std::string to;                  // likewise; "" when it is taken away
  std::vector<std::string> nodes;  // kUncordon, kReady: all of them
  std::int64_t size = 0;           // what orders relaxations of one kind: tiers, pods, nodes
  std::string text;                // "allow tier 3: raise ... from 2 to 3"
  AdviceCommand command = {};      // that makes it
  // Where its pods went when it was tried: "ns/pod" to node.
  std::map<std::string, std::string> binds = {};

  bool operator==(const Relaxation&) const = default;
};

// Text and command in one line: "uncordon node n1: kubectl uncordon n1".
[[nodiscard]] std::string WithCommand(const Relaxation& relaxation);

// "higherTier": the word of the JSON output.
[[nodiscard]] std::string_view ToString(Relaxation::Kind kind);

struct RelaxationQuery {
  const CompletedObjects* objects = nullptr;
  const SchedulerConfig* config = nullptr;
  RunOptions options;                 // as the run that left the job waiting; its trace is not used
  std::string job;                    // "ns/podgroup", waiting in `before`
  const RunResult* before = nullptr;  // that run
  const ClusterState* state = nullptr;               // and what it left
  std::vector<Holder> holders;                       // to be tried without, in this order
  std::function<void(const std::string&)> progress;  // called before each solution; may be empty
  std::stop_token stop =
      {};  // asked before each solution; once it says so the report means nothing
};

struct RelaxationReport {
  std::vector<Relaxation> found;  // the smallest first
  std::size_t solved = 0;         // how many changed inputs were solved
  std::size_t holders_tried = 0;  // of the query's holders; the rest was not looked at
};

inline constexpr std::size_t kMaxHoldersTried = 24;

// Every relaxation that works, at most one of a kind for each thing it changes, with the smallest
// step that does it. "Works" means: in the changed input the gang gets its nodes, or, if it had its
// minimum already, none of its pods waits. Pure and deterministic; nothing is kept.
// COST: one load and one run for each change that is tried, some tens of them.
[[nodiscard]] RelaxationReport FindRelaxations(const RelaxationQuery& query);

}  // namespace strata
