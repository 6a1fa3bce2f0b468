#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "page/cluster_columns.h"
#include "page/columns_json.h"
#include "report/gpu_sums.h"

namespace strata::page {

// What was decided between two pictures.
struct Decision {
  std::string job;      // "namespace/name"; "" for a node
  std::string outcome;  // "placed", "waits", "gone"; of a node "node" or "node gone"
  std::string where;    // the HyperNode, the reason, or what is said of the node
  std::int32_t tier = 0;

  bool operator==(const Decision&) const = default;
};
// Pure. REQUIRES: jobs have kept their positions.
[[nodiscard]] std::vector<Decision> DecisionsBetween(const ClusterColumns& before,
                                                     const ClusterColumns& after);

// The pictures of the last hour: a whole one every five minutes and at each epoch, and what changed
// in between, at most once a second. At most `max_bytes`; what is oldest goes first. A value; time
// comes with the pictures.
class History {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20U;
  static constexpr Duration kSpan = std::chrono::hours(1);
  static constexpr Duration kBetween = std::chrono::seconds(1);

  explicit History(std::size_t max_bytes = kMaxBytes) : max_bytes_(max_bytes) {}

  // The next picture. COST: a copy and a comparison of the columns, once per kBetween.
  void Note(const ClusterColumns& columns, const Stamp& stamp, const GpuSums& sums, Time now);

  // When the last picture that was left out is due.
  [[nodiscard]] bool IsDue(Time now) const { return is_behind_ && now >= next_; }

  // The answer of `history`: samples and decisions of the hour.
  [[nodiscard]] std::string Overview() const;
  // The answer of `history?at=`: the whole picture before, and the changes up to that moment. The
  // first picture for a moment before it; "" when there is none.
  [[nodiscard]] std::string At(Time at) const;

  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  struct Moment {
    Time time;
    std::string change;
    std::vector<Decision> decisions;
    std::int64_t free = 0;
    std::int64_t used = 0;
    std::int64_t waiting = 0;
    std::vector<std::pair<std::int32_t, std::int64_t>> fits;  // tier, pods; the last is the cluster
  };
  struct Block {
    Time time;
    std::int64_t epoch = 0;
    std::string picture;
    std::vector<Moment> moments;  // the first has no change
    std::size_t bytes = 0;
  };

  void Open(const ClusterColumns& columns, const Stamp& stamp, Time now);
  void Drop(Time now);

  const std::size_t max_bytes_;
  std::deque<Block> blocks_;
  std::optional<ClusterColumns> last_;
  Time next_{};
  bool is_behind_ = false;
  std::size_t bytes_ = 0;
};

}  // namespace strata::page
