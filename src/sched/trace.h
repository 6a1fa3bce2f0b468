#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/resources.h"
#include "sched/eviction/cost.h"
#include "sched/eviction/domain_order.h"
#include "sched/score.h"

// What was decided and why, as values. Records are made only when there is a listener, and never
// change a decision. They hold names, not ids, because a record outlives the cycle.
namespace strata {

using ScoresByName = std::map<std::string, Score>;

struct GradientRecord {
  struct Rejected {
    std::string hypernode;
    std::string reason;
  };
  struct Tier {
    std::int32_t tier = 0;
    std::vector<std::string> eligible;
    std::vector<Rejected> rejected;
  };
  std::string job;
  std::string sub_job;
  std::string root;
  std::vector<Tier> tiers;
};

struct HyperNodeScoreRecord {
  std::string job;
  std::string sub_job;
  std::map<std::string, ScoresByName> scores;  // by plugin
  ScoresByName total;
  std::vector<std::string> failed;  // in the order they were tried
  std::string chosen;               // "" if none
};

struct NodeScoreRecord {
  std::string job;
  std::string pod;
  std::string hypernode;
  std::map<std::string, ScoresByName> scores;  // by plugin
  ScoresByName total;
  std::string chosen;
};

struct RejectRecord {
  std::string job;
  std::string pod;
  std::string node;
  std::string plugin;  // "resources" when there is no room
  std::string reason;
};

// The GPUs of one pod.
struct DeviceRecord {
  struct Container {
    std::string name;
    std::vector<std::string> uuids;
    std::vector<std::string> links;  // "0-3 NV2+PHB", every pair, by GPU index
    std::int64_t score = 0;          // the sum over the pairs
    std::int64_t best = 0;           // the highest sum that the node could give when empty
    bool proven = true;              // both are: no search for a better set was cut off
  };
  std::vector<Container> containers;  // those that have GPUs
};

// One step of a transaction.
struct StepRecord {
  enum class Kind : std::uint8_t {
    kAllocate,
    kPipeline,
    kEvict,
    kCommit,
    kDiscard
  } kind = Kind::kAllocate;
  std::string job;
  std::string pod;        // allocate, pipeline, evict
  std::string node;       // likewise
  std::string hypernode;  // commit, discard: the domain of the search, "" if none
  std::optional<DeviceRecord> devices = std::nullopt;  // allocate, pipeline: where it has GPUs
};

// Part of the verdict on a job that has no place: the HyperNode of one tier that came nearest to
// holding what its gang misses.
struct NearestMissRecord {
  std::string job;
  std::string sub_job;
  std::int32_t tier = 0;
  std::string hypernode;
  std::uint64_t fits = 0;  // of `wanted` pods
  std::uint64_t wanted = 0;
  std::map<std::string, Amount> short_of;  // by resource: asked for beyond what is idle there
  // Nodes without room for a pod (when `short_of` is empty: for one more pod), by obstacle.
  std::map<std::string, std::size_t> nodes;
};

// A plan to evict pods for a job: what else was possible, and who stays whatever happens.
struct EvictionRecord {
  struct Domain {
    std::string hypernode;  // "" for the cluster as a whole
    std::int32_t tier = 0;
    Cost cost;
    // The first thing in which it is worse than the one that was chosen.
    DomainCriterion worse_by = DomainCriterion::kName;
  };
  struct Protected {
    std::string job;
    std::string kind;  // of pods: "not preemptable"
    std::size_t pods = 0;
  };
  std::string job;
  std::string action;
  Domain chosen;
  std::vector<Domain> others;   // the next best, at most kMaxOtherDomains
  std::vector<Protected> kept;  // that could go otherwise, by job
};
inline constexpr std::size_t kMaxOtherDomains = 2;

using TraceRecord = std::variant<GradientRecord,
                                 HyperNodeScoreRecord,
                                 NodeScoreRecord,
                                 RejectRecord,
                                 StepRecord,
                                 NearestMissRecord,
                                 EvictionRecord>;

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void Record(TraceRecord record) = 0;
  // False when it wants no NodeScoreRecords and RejectRecords, of which there is one per node and
  // pod. Called often.
  [[nodiscard]] virtual bool WantsNodes() const { return true; }
};

}  // namespace strata
