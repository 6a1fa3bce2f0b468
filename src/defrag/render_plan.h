#pragma once

#include <string>

#include "defrag/plan.h"
#include "report/text.h"
#include "whatif/answer.h"

// A plan as text that ends in a newline.
namespace strata {

// What the plan is for, in the words before and behind the names of the HyperNodes ("default/train
// can start in "), and what people call a PodGroup.
struct PlanWords {
  std::string before;
  std::string behind;
  NameOfGroup name_of;
};

// For people: one sentence, the steps, the largest gang of each tier before and after, and how to
// carry the plan out.
[[nodiscard]] std::string RenderTable(const DefragPlan& plan,
                                      const PlanWords& words,
                                      const TextStyle& style);
// One JSON document; the order of keys is fixed.
[[nodiscard]] std::string RenderJson(const DefragPlan& plan, const PlanWords& words);

}  // namespace strata
