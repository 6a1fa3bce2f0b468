#include "sched/eviction/cost.h"

#include <initializer_list>

#include <gtest/gtest.h>

namespace strata {
namespace {

constexpr auto kOneGang = VictimUnit::Kind::kGang;
constexpr auto kOnePod = VictimUnit::Kind::kSurplus;

struct CostPart {
  VictimUnit::Kind kind;
  UnitPrice price;
};

Cost CostOfParts(std::initializer_list<CostPart> parts,
                 VictimOrder order = VictimOrder::kSafeFirst) {
  Cost cost;
  for (const CostPart& part : parts) cost.Add(part.kind, part.price, order);
  return cost;
}

CostPart GangPart(std::int32_t priority, std::int64_t pods) {
  return {kOneGang, {.priority = priority, .pods = pods}};
}
CostPart PodPart(std::int32_t priority) {
  return {kOnePod, {.priority = priority, .pods = 1}};
}

TEST(Cost, FewerGangsComeFirst) {
  EXPECT_LT(CostOfParts({PodPart(9), PodPart(9), PodPart(9)}), CostOfParts({GangPart(1, 1)}));
  EXPECT_LT(CostOfParts({GangPart(9, 8)}), CostOfParts({GangPart(1, 1), GangPart(1, 1)}));
}

TEST(Cost, PriorityFirstSparesTheHighestPriority) {
  const auto order = VictimOrder::kPriorityFirst;
  EXPECT_LT(CostOfParts({GangPart(1, 4), GangPart(1, 4)}, order), CostOfParts({PodPart(2)}, order));
  EXPECT_LT(CostOfParts({PodPart(1), PodPart(1)}, order), CostOfParts({GangPart(1, 1)}, order))
      << "at one priority";
}

TEST(Cost, TheHighestPriorityDecidesBeforeTheNext) {
  EXPECT_LT(CostOfParts({PodPart(5), PodPart(1), PodPart(1), PodPart(1)}),
            CostOfParts({PodPart(5), PodPart(5)}));
  EXPECT_LT(CostOfParts({PodPart(5), PodPart(1)}), CostOfParts({PodPart(5), PodPart(2)}));
  EXPECT_LT(CostOfParts({PodPart(5)}), CostOfParts({PodPart(5), PodPart(1)}));
}

TEST(Cost, ThenPodsThenLostWorkThenGrace) {
  EXPECT_LT(CostOfParts({GangPart(1, 2)}), CostOfParts({GangPart(1, 3)}));
  const auto priced = [](std::int64_t lost, std::int32_t grace) {
    return CostOfParts(
        {{kOneGang, {.priority = 1, .pods = 2, .lost_work = lost, .grace_seconds = grace}}});
  };
  EXPECT_LT(priced(10, 300), priced(11, 30));
  EXPECT_LT(priced(10, 30), priced(10, 300));
}

TEST(Cost, DoesNotDependOnTheOrderOfTheParts) {
  EXPECT_EQ(CostOfParts({GangPart(1, 2), PodPart(7), PodPart(3)}),
            CostOfParts({PodPart(3), GangPart(1, 2), PodPart(7)}));
}

}  // namespace
}  // namespace strata
