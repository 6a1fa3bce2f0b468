#pragma once

#include "model/cluster_state.h"
#include "obs/log.h"
#include "sched/cycle_result.h"
#include "sched/trace.h"

// A cycle as lines of the log, under the words that Volcano's users search for.
namespace strata::live {

// From -v 3 on whether the topology can be used, from 4 on where jobs are held to (in the first
// cycle, which recovers that, from 3 on), from 5 on the tree: "HyperNodesReadyToSchedule",
// "AllocatedHyperNode", "hyperNode in session".
void LogOpenSession(const obs::Log& log, const ClusterState& state, bool first);

// From -v 3 on: the HyperNode of each job that got nodes ("AllocatedHyperNode"), and jobs that no
// HyperNode can take ("build hyperNode gradient fail").
void LogDecisions(const obs::Log& log, const ClusterState& state, const CycleResult& result);

// The scores, from -v 4 on: "networkTopologyAware hyperNode score", "networkTopologyAware node
// score"; from 5 on "hyperNode binpacking score calculation". A listener costs time: none is made
// below that.
class SessionLog final : public TraceSink {
 public:
  static constexpr int kLeastVerbosity = 4;

  explicit SessionLog(const obs::Log& log) : log_(log) {}
  void Record(TraceRecord record) override;

 private:
  void Tell(const HyperNodeScoreRecord& record) const;
  void Tell(const NodeScoreRecord& record) const;
  void Tell(const GradientRecord& record) const;

  const obs::Log& log_;
};

}  // namespace strata::live
