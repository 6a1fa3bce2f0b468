#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "replay/policies/policy.h"

namespace strata::replay {

// One line to somebody, and where an answer is wanted the line that comes back.
enum class Answer : std::uint8_t { kNone, kWanted };
using SayLine = std::function<Result<std::string>(const std::string& line, Answer answer)>;

// A policy that somebody else decides, in lines of JSON (docs/lab.md, "A scheduler of your own").
// The first line describes the cluster; then one line for each job that wants a place, which is
// answered, and one for each job that ends. What is answered is checked: a place that the cluster
// does not have is a Problem, and the policy places nothing more.
//
// `say` must outlive it. What is passed otherwise, too.
[[nodiscard]] Result<std::unique_ptr<Policy>> MakeToldPolicy(SayLine say,
                                                             const Workload& workload,
                                                             const Fabric& fabric,
                                                             std::uint64_t seed);

}  // namespace strata::replay
