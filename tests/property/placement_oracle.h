#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <rapidcheck.h>

// Small clusters with one gang that waits, as plain numbers, and the best place for it, found by
// trying everything: a second opinion that shares no code with the scheduler.
namespace strata::testing {

struct TightNode {
  int cpu = 0, memory = 0;  // free: cores, GiB
  int leaf = 0;
};

struct TightPod {
  int cpu = 1, memory = 1;
  int part = 0;  // its sub-group
};

struct TightCase {
  std::vector<TightNode> nodes;
  std::vector<int> spine_of_leaf;
  std::vector<TightPod> pods;  // all of them are needed
  int job_tier = 3;            // highest tier allowed: 1 leaf, 2 spine, 3 anywhere
  int part_tier = 0;           // the same for each sub-group; 0: there are no sub-groups

  [[nodiscard]] int leaves() const { return static_cast<int>(spine_of_leaf.size()); }
};

void showValue(const TightCase& gang, std::ostream& os);  // NOLINT(readability-identifier-naming)

enum class TightKind : std::uint8_t { kEqual, kMixed, kParts };
// At most `nodes` nodes and `pods` pods; about as much room as the gang needs.
[[nodiscard]] rc::Gen<TightCase> AnyTightCase(TightKind kind, int nodes, int pods);

// Node of each pod.
using TightPlaces = std::vector<int>;
// 1 when all are in one leaf, 2 in one spine, else 3.
[[nodiscard]] int TierOf(const TightCase& gang, const TightPlaces& places);
[[nodiscard]] int LeavesOf(const TightCase& gang, const TightPlaces& places);
// Edges between pods with neighbouring ranks, and the last and the first, in different leaves.
[[nodiscard]] int CrossingsOf(const TightCase& gang, const TightPlaces& places);
// Nothing when the places are allowed, else what is wrong.
[[nodiscard]] std::string WhatIsWrong(const TightCase& gang, const TightPlaces& places);

struct TightBest {
  int tier = 0;                              // the lowest that holds the gang
  std::optional<int> leaves = std::nullopt;  // equal pods: the fewest in a domain of that tier
};
// None when there is no place.
[[nodiscard]] std::optional<TightBest> BestPlace(const TightCase& gang);
// The fewest crossings with which the pods can be dealt to these nodes. REQUIRES: equal pods.
[[nodiscard]] int FewestCrossings(const TightCase& gang, TightPlaces places);

}  // namespace strata::testing
