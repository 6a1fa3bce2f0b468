#include "replay/policies/trial.h"

#include <algorithm>
#include <tuple>

namespace strata::replay {
namespace {

// How many equal pods of the gang the domain takes; the last pod may be smaller and counts where
// nothing but one of its size is left.
bool Holds(const JobClass& job, const Room& room, std::size_t level, DomainIndex domain) {
  if (room.FreeGpus(level, domain) < job.TotalGpus()) return false;
  std::int32_t slots = 0;
  bool last = job.pod == job.last;
  for (const NodeIndex node : room.NodesOf(level, domain)) {
    if (!job.Accepts(node)) continue;
    const std::int32_t here = room.Slots(node, job.pod, job.pods);
    slots += here;
    if (slots >= job.pods) return true;
    // What is left of this node once it is full of the larger ones.
    if (!last) last = room.FreeGpus(node) - here * job.pod.gpus >= job.last.gpus && here == 0;
  }
  return last && job.pod != job.last && slots >= job.pods - 1 && slots + 1 >= job.pods;
}

}  // namespace

std::vector<DomainIndex> DomainsThatHold(const JobClass& job, const Room& room, std::size_t level) {
  std::vector<DomainIndex> found;
  for (DomainIndex domain = 0; domain < room.DomainCount(level); ++domain) {
    if (Holds(job, room, level, domain)) found.push_back(domain);
  }
  std::stable_sort(found.begin(), found.end(), [&](DomainIndex a, DomainIndex b) {
    return room.FreeGpus(level, a) < room.FreeGpus(level, b);
  });
  return found;
}

std::size_t LowestLevel(const JobClass& job, const Room& room) {
  const std::size_t highest = job.wish == Wish::kHard ? job.max_level : room.levels();
  for (std::size_t level = 0; level <= highest; ++level) {
    for (DomainIndex domain = 0; domain < room.DomainCount(level); ++domain) {
      if (Holds(job, room, level, domain)) return level;
    }
  }
  return room.levels() + 1;
}

}  // namespace strata::replay
