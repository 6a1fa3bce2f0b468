#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// How the GPUs of one node reach each other, and what a pair of them is worth.
namespace strata {

// The lowest common ancestor of two GPUs on the PCIe side, the nearest last. In brackets what
// `nvidia-smi topo -m` calls it.
enum class PcieLevel : std::uint8_t {
  kUnknown,
  kSystem,        // across sockets (SYS)
  kNode,          // one socket, several host bridges (NODE)
  kHostBridge,    // one host bridge (PHB)
  kMultiSwitch,   // several PCIe switches (PXB)
  kSingleSwitch,  // one PCIe switch (PIX)
  kSameBoard,     // two GPUs of one board
};

// One direction of a pair. What could not be read is unknown, which is not the same as absent.
struct GpuLink {
  PcieLevel pcie = PcieLevel::kUnknown;
  std::optional<std::int32_t> nvlinks;  // 0: none

  bool operator==(const GpuLink&) const = default;
};

// HAMi's table: 10 to 60 for the PCIe level plus 100 per NVLink up to 18 (more than 18 count as
// none). None when a part is unknown.
[[nodiscard]] std::optional<std::int32_t> ScoreOf(const GpuLink& link);
// "NV2+PIX", "SYS", "NV?+PHB": how people write it.
[[nodiscard]] std::string ToString(const GpuLink& link);
// The link behind a score of the table; none for a number that is not a sum of its rows.
[[nodiscard]] std::optional<GpuLink> LinkOfScore(std::int32_t score);
// "NV2+PIX" for 250, the number itself where the table has no such sum.
[[nodiscard]] std::string DescribeScore(std::int32_t score);

// The score of every pair of GPUs of a node, the same in both directions. Positions are those of
// the node's GPU list.
class PairScores {
 public:
  using Pair = std::pair<std::size_t, std::size_t>;  // first < second

  PairScores() = default;
  // `directed[i * size + j]` is what i says of j. A pair is worth the lower of its two directions,
  // and is known when both are.
  PairScores(std::size_t size, const std::vector<std::optional<std::int32_t>>& directed);

  [[nodiscard]] std::size_t size() const { return size_; }
  // An unknown pair counts as the worst known one of the node; where none is known all are 0.
  [[nodiscard]] std::int32_t Get(std::size_t i, std::size_t j) const {
    return scores_[i * size_ + j];
  }
  [[nodiscard]] bool IsKnown(std::size_t i, std::size_t j) const;
  [[nodiscard]] const std::vector<Pair>& unknown() const { return unknown_; }
  // Known pairs whose directions differ.
  [[nodiscard]] const std::vector<Pair>& asymmetric() const { return asymmetric_; }
  bool operator==(const PairScores&) const = default;

 private:
  std::size_t size_ = 0;
  std::vector<std::int32_t> scores_;
  std::vector<Pair> unknown_;  // ascending
  std::vector<Pair> asymmetric_;
};

// What a probe of one node found, direction by direction.
class LinkGraph {
 public:
  explicit LinkGraph(std::size_t size) : size_(size), links_(size * size) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  void Set(std::size_t from, std::size_t to, GpuLink link) { links_[from * size_ + to] = link; }
  [[nodiscard]] const GpuLink& At(std::size_t from, std::size_t to) const {
    return links_[from * size_ + to];
  }
  [[nodiscard]] PairScores Scores() const;

 private:
  std::size_t size_;
  std::vector<GpuLink> links_;
};

// GPUs that reach each other over NVLinks, directly or through others of `members`: the connected
// parts, each ascending, by their first member.
[[nodiscard]] std::vector<std::vector<std::size_t>> NvlinkIslands(
    const PairScores& scores, const std::vector<std::size_t>& members);

}  // namespace strata
