#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "explain/relaxations.h"
#include "whatif/what_if.h"

namespace strata {

// Solves changed copies of one input, and says whether the job in question starts in them.
class Resolver {
 public:
  explicit Resolver(const RelaxationQuery& query);

  // `what` is for people who wait. False when the query was stopped.
  [[nodiscard]] bool Places(const std::string& what, const Change& change);
  // The same objects with another configuration.
  [[nodiscard]] bool PlacesWith(const std::string& what, const SchedulerConfig& config);
  // What the last input that placed the job looked like afterwards, and what was decided in it.
  [[nodiscard]] const ClusterState& last() const { return *last_.cluster.state; }
  [[nodiscard]] const RunResult& last_result() const { return last_.result; }
  // The relaxation, with where the last input that placed the job put its pods.
  [[nodiscard]] Relaxation WithBinds(Relaxation relaxation) const;
  [[nodiscard]] std::size_t solved() const { return solved_; }

  // The value nearest to `fails` that works, when `works` does.
  // REQUIRES: what works stays so from there on towards `works`.
  [[nodiscard]] static std::int64_t Nearest(std::int64_t fails,
                                            std::int64_t works,
                                            const std::function<bool(std::int64_t)>& try_value);

 private:
  [[nodiscard]] bool Solve(const std::string& what,
                           const Change& change,
                           const SchedulerConfig& config);
  [[nodiscard]] bool Placed(const RunResult& result) const;

  const RelaxationQuery& query_;
  std::set<std::string, std::less<>> pods_;  // of the job
  bool had_minimum_ = false;
  Outcome last_;
  std::size_t solved_ = 0;
};

}  // namespace strata
