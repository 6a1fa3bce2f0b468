#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "replay/room.h"
#include "replay/workload.h"

namespace strata::replay {

// The pods of a gang that a rule has placed so far. They take room until the trial is over, so that
// the next pod sees what is left; then the room is as before.
class GangTrial {
 public:
  GangTrial(const JobClass& job, Room& room) : job_(job), room_(room) {}
  GangTrial(const GangTrial&) = delete;
  GangTrial& operator=(const GangTrial&) = delete;
  ~GangTrial() { Clear(); }

  [[nodiscard]] bool Done() const { return Placed() == job_.pods; }
  [[nodiscard]] std::int32_t Placed() const { return static_cast<std::int32_t>(nodes_.size()); }
  // What the next pod needs. REQUIRES: not done.
  [[nodiscard]] const PodShape& Next() const { return job_.ShapeOf(Placed()); }
  [[nodiscard]] bool Fits(NodeIndex node) const {
    return job_.Accepts(node) && room_.Fits(node, Next());
  }
  void Put(NodeIndex node) {
    room_.Take(node, Next());
    nodes_.push_back(node);
  }
  // As many pods as the node takes.
  void Fill(NodeIndex node) {
    while (!Done() && Fits(node)) Put(node);
  }
  void Clear() {
    for (std::int32_t rank = Placed(); rank-- > 0;) {
      room_.Give(nodes_.back(), job_.ShapeOf(rank));
      nodes_.pop_back();
    }
  }
  // The nodes by rank, none unless all pods have one.
  [[nodiscard]] std::vector<NodeIndex> Nodes() const {
    return Done() ? nodes_ : std::vector<NodeIndex>();
  }

 private:
  const JobClass& job_;
  Room& room_;
  std::vector<NodeIndex> nodes_;
};

// Where a gang may lie: the domains of `level` with room for it, by free GPUs, the least first.
[[nodiscard]] std::vector<DomainIndex> DomainsThatHold(const JobClass& job,
                                                       const Room& room,
                                                       std::size_t level);

// The lowest level, up to that of the job's limit, with a domain that holds the gang now; one above
// the cluster as a whole when there is none.
[[nodiscard]] std::size_t LowestLevel(const JobClass& job, const Room& room);

}  // namespace strata::replay
