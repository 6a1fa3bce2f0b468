#pragma once

#include <string>

#include "defrag/plan.h"
#include "report/text.h"
#include "whatif/answer.h"

// A plan as text that ends in a newline.
namespace strata {

// `goal` is what the plan is for, as it is written in a sentence ("default/train can start"), and
// `name_of` says what people call a PodGroup.
struct PlanWords {
  std::string goal;
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
