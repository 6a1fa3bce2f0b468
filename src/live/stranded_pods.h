#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "convert/cluster_feed.h"
#include "net/transport.h"
#include "sched/extension.h"

namespace strata::live {

// Notices pods that no cycle looks at and that would wait without a word: they name a PodGroup that
// does not exist, or a schedulerName that nobody serves. Each is told once it has been so for ten
// seconds: a PodGroup may come after its pods, and another scheduler may take a pod. A value
// without effects.
class StrandedPods {
 public:
  // The names of schedulers that are served here.
  explicit StrandedPods(std::vector<std::string> served) : served_(std::move(served)) {}

  struct Finding {
    std::string pod;  // "ns/name"
    Refusal why;
    bool first_of_owner = false;  // its PodGroup and its controller were not told yet
  };
  // The pods that are to be told now. COST: the pods that wait so, and nothing while they are the
  // same and none is due.
  [[nodiscard]] std::vector<Finding> TakeNew(const ClusterFeed& feed, net::SteadyTime now);
  // When there will be something for that, if no pod comes or goes.
  [[nodiscard]] std::optional<net::SteadyTime> NextDue() const { return next_due_; }

 private:
  struct Seen {
    net::SteadyTime since{};
    bool told = false;
  };

  [[nodiscard]] std::optional<Refusal> WhyUnserved(const objects::Pod& pod) const;

  std::vector<std::string> served_;
  std::uint64_t seen_version_ = 0;
  std::map<std::string, Seen> pods_;  // by uid
  std::set<std::string> owners_;      // that were told and still have such a pod, by OwnerOf
  std::optional<net::SteadyTime> next_due_;
};

}  // namespace strata::live
