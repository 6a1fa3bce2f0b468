#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "replay/engine.h"
#include "replay/room.h"

namespace strata::replay {

// Watches a replay from the outside and keeps books of its own. Knows nothing of policies: what it
// says is wrong is wrong whatever policy decided it. Faults are sentences with the job and the
// moment.
class Checker {
 public:
  Checker(const Workload& workload, const Fabric& fabric);

  // A job got these nodes; it ends at `end`.
  void OnStart(std::uint32_t job, const std::vector<NodeIndex>& nodes, Millis now, Millis end);
  void OnEnd(std::uint32_t job, Millis now);
  // Compares the sums of `room` with a recount. COST: O(running pods + nodes).
  void OnMoment(const Room& room, Millis now);
  // After the last event: every job that fits has ended once.
  void OnFinish();

  // At most the first hundred.
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

 private:
  void Fault(std::string text);
  void CheckPlace(std::uint32_t job, const std::vector<NodeIndex>& nodes, Millis now);

  struct Running {
    std::vector<NodeIndex> nodes;
    Millis end = 0;
  };
  const Workload& workload_;
  const Fabric& fabric_;
  std::map<std::uint32_t, Running> running_;
  std::vector<std::int32_t> used_;   // GPUs, by node
  std::vector<std::uint8_t> ended_;  // times, by job
  Millis now_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace strata::replay
