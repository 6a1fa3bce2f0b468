#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "explain/facts.h"
#include "explain/holders.h"
#include "explain/kept_relaxations.h"
#include "explain/line.h"
#include "explain/obstacles.h"
#include "explain/relaxations.h"
#include "explain/subject.h"
#include "sched/config.h"
#include "sched/trace.h"
#include "whatif/cluster.h"
#include "whatif/cycle_trace.h"
#include "whatif/run.h"
#include "whatif/run_result.h"

// The story of one job, as values; render_explain.h writes it down.
namespace strata {

struct Explanation {
  using NamedScore = std::pair<std::string, Score>;

  // One tier of a search.
  struct Tier {
    std::int32_t tier = 0;
    std::vector<std::string> open;  // HyperNodes that were eligible
    std::vector<std::pair<std::string, std::vector<std::string>>> ruled_out;  // reason, HyperNodes
    std::vector<std::string> failed;                // tried, and the gang did not fit
    std::string chosen;                             // "" if none
    std::vector<NamedScore> scores;                 // of those compared, the best first
    std::map<std::string, ScoresByName> by_plugin;  // what each of them is the sum of
  };
  struct Search {
    std::string sub_job;  // "" for the job
    std::string root;
    std::vector<Tier> tiers;
    bool by_tier = false;  // false: no limit, so there was only one place to look
  };
  struct Miss {
    NearestMissRecord record;
    std::vector<Holder> holders;  // of what is short there, the largest first
  };
  struct Pod {
    std::string name;
    std::string node;
    bool waits = false;                                  // for what is being released there
    std::optional<Score> score;                          // where node scores were asked for
    std::vector<NamedScore> others = {};                 // the next best nodes
    std::optional<DeviceRecord> devices = std::nullopt;  // where it has GPUs
  };

  // Pods that would go so that the job can start.
  struct Plan {
    RunResult::Evictions evictions;
    EvictionRecord choice;  // what else was possible
  };

  // A job that has its minimum, while further pods of it wait.
  struct Part {
    std::size_t wanted = 0;
    std::size_t needed = 0;
    std::size_t placed = 0;
    std::size_t ended = 0;  // of those placed
    bool expected = false;  // the run placed some of them
  };

  std::string job;  // "ns/podgroup"
  // What people call it and the other jobs of the story, by "ns/podgroup"; those that are not here
  // are called so.
  std::map<std::string, std::string> own_names;
  std::string subject_kind;        // what was asked about, where a name was given: "Pod"
  std::string subject;             // and its "ns/name"
  std::string heading;             // a sentence about that, before all others; "" for none
  std::string ended;               // the sentence when there was nothing to simulate; "" otherwise
  std::vector<std::string> notes;  // lines that follow the first sentence
  std::optional<Reality> reality;  // of a running cluster only
  RunResult::Job outcome;
  std::optional<Part> part;
  std::vector<Obstacle> obstacles;  // whatever room there is, the job waits for these
  std::int32_t cycle = 0;           // the last one that looked at the job; 0 if none did
  std::vector<Search> searches;
  std::vector<Miss> misses;
  std::vector<Pod> pods;                          // placed or promised in that cycle
  std::string queue;                              // with queue_holders: the queue that is full
  std::vector<Holder> queue_holders;              // its other jobs, the largest first
  std::optional<Line> line;                       // of its queue, where it waits there
  std::vector<Plan> evictions;                    // so that this job can start
  std::vector<RunResult::Evictions> evicted_for;  // others; its own pods are the only victim named
  std::size_t holders = 0;  // all who hold what is short, anywhere in the cluster
  std::optional<RelaxationReport> relaxations;  // none when the job does not wait
};

// What to explain.
struct ExplainQuery {
  const CompletedObjects* objects = nullptr;
  const SchedulerConfig* config = nullptr;
  RunOptions options;  // as the run to be explained; its trace is not used
  std::string job;     // "ns/podgroup": see FindSubject
  std::function<void(const std::string&)> progress;  // may be empty
  // Asked before relaxations are worked out, and told what was found; may be null.
  KeptRelaxations* kept = nullptr;
  std::stop_token stop = {};  // asked between runs
  // Where the objects come from. For a running cluster the story says what is, and apart from that
  // what the run expects.
  enum class Source : std::uint8_t { kManifests, kRunningCluster } source = Source::kManifests;
  // Called with the story before relaxations are worked out, which takes longer; may be empty.
  std::function<void(const Explanation&)> early = {};
};

// Runs the simulation once more and listens to what it says about the job, then looks for changes
// that would let it start if it waits. Pure apart from `progress` and `stop`; kUnavailable when it
// was stopped, kNotFound when there is no such job.
//
// Node by node scores are left out where there are too many (kMaxNodeScores).
// COST: FindRelaxations, unless `kept` knows the answer: then one load and one run.
[[nodiscard]] Result<Explanation> ExplainJob(const ExplainQuery& query);

// The same of what a name means: of its first PodGroup, or without a run where it has ended or is
// left to another scheduler. `query.job` is not used. `state` is that of the objects.
[[nodiscard]] Result<Explanation> ExplainSubject(const ExplainQuery& query,
                                                 const Subject& subject,
                                                 const ClusterState& state);

// Whether an event says only what the story says already: a verdict of the scheduler, of now or of
// before, or what the sentence is about.
[[nodiscard]] bool SaysNothingNew(const Explanation& explanation,
                                  std::string_view reason,
                                  std::string_view message);

// Whether pods of the job have no node in the running cluster, although the run placed them all.
[[nodiscard]] bool IsForecast(const Explanation& explanation);

inline constexpr std::size_t kMaxNodeScores = 1'000'000;

// Whether the job was placed before the run, so that the run decided nothing about it.
[[nodiscard]] bool WasPlacedEarlier(const Explanation& explanation);

// Explains where the job would go if all its pods were placed again now, with the rest of the
// cluster unchanged. Errors and cost are those of ExplainJob.
[[nodiscard]] Result<Explanation> ExplainPlacedAgain(const ExplainQuery& query);

// The same from what is there already, without the relaxations. `log` heard the run.
// REQUIRES: the job is in `result`.
[[nodiscard]] Explanation TellStory(const RunResult& result,
                                    const TraceLog& log,
                                    const std::string& job);

}  // namespace strata
