#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "replay/workload.h"

namespace strata::replay {

// The jobs that wait, in the order (priority, submission, name), by class. A class that found no
// place is not offered again before something ends: room only shrinks until then.
class Waiting {
 public:
  explicit Waiting(const Workload& workload)
      : workload_(workload), classes_(workload.classes.size()), refused_(workload.classes.size()) {}

  void Add(std::uint32_t job);
  // REQUIRES: the job is the first of its class.
  void Remove(std::uint32_t job);
  void Refuse(std::uint32_t job_class) { refused_[job_class] = true; }
  // Something ended.
  void Reconsider() { refused_.assign(refused_.size(), false); }

  // The first of all, refused or not.
  [[nodiscard]] std::optional<std::uint32_t> Head() const;
  // The first whose class was not refused. COST: O(classes that wait).
  [[nodiscard]] std::optional<std::uint32_t> NextToTry() const;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t OfClass(std::uint32_t job_class) const {
    return classes_[job_class].size();
  }
  // Classes that have a job waiting, ascending.
  [[nodiscard]] const std::set<std::uint32_t>& busy() const { return busy_; }
  [[nodiscard]] bool Refused(std::uint32_t job_class) const { return refused_[job_class]; }

 private:
  using Key = std::pair<std::int64_t, std::uint32_t>;  // -priority, job
  [[nodiscard]] Key KeyOf(std::uint32_t job) const {
    return {-std::int64_t{workload_.jobs[job].priority}, job};
  }

  const Workload& workload_;
  std::vector<std::set<Key>> classes_;
  std::vector<bool> refused_;
  std::set<std::uint32_t> busy_;
  std::size_t size_ = 0;
};

}  // namespace strata::replay
