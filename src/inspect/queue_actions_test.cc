#include "inspect/queue_actions.h"

#include <gtest/gtest.h>

namespace strata::inspect {
namespace {

TEST(QueueBody, SaysOnlyWhatIsNotTheDefault) {
  EXPECT_EQ(QueueBody({.name = "ml", .capability = {}, .deserved = {}, .guarantee = {}}),
            R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue",)"
            R"("metadata":{"name":"ml"},"spec":{"weight":1,"reclaimable":true}})");
}

TEST(QueueBody, HasEveryField) {
  const NewQueue queue{.name = "ml",
                       .weight = 3,
                       .priority = 7,
                       .parent = "dept",
                       .reclaimable = false,
                       .capability = {{"nvidia.com/gpu", Quantity::Parse("16").value()}},
                       .deserved = {{"cpu", Quantity::Parse("8").value()}},
                       .guarantee = {{"cpu", Quantity::Parse("4").value()}}};
  EXPECT_EQ(QueueBody(queue),
            R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue",)"
            R"("metadata":{"name":"ml"},"spec":{"weight":3,"reclaimable":false,"priority":7,)"
            R"("parent":"dept","capability":{"nvidia.com/gpu":"16"},"deserved":{"cpu":"8"},)"
            R"("guarantee":{"resource":{"cpu":"4"}}}})");
}

}  // namespace
}  // namespace strata::inspect
