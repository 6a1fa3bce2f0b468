// Random histories of verdicts, with answers that come late or never.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "explain/kept_relaxations.h"
#include "tests/support/property.h"

namespace strata::testing {
namespace {

constexpr int kSentences = 3;

// The verdict number `sentence`, and the answer that is right for it alone.
Refusal Verdict(int sentence) {
  return {"Full", std::to_string(sentence)};
}
RelaxationReport AnswerTo(const Refusal& verdict) {
  RelaxationReport report;
  report.solved = std::stoul(verdict.message);
  return report;
}

// Cycles, and somebody who works on relaxations while they run.
struct History {
  KeptRelaxations kept;
  KeptRelaxations::Verdicts now;
  std::map<std::string, Refusal> asked;  // being worked on
  std::size_t answered = 0;
  std::size_t late = 0;

  void ChangeVerdicts() {
    for (const char* job : {"ns/a", "ns/b", "ns/c", "ns/d"}) {
      const int choice = *Below(6);
      if (choice == 0) now.erase(job);
      if (choice == 1) now.insert_or_assign(job, Verdict(*Below(kSentences)));
    }
  }

  void TakeAnswers() {
    for (const auto& [job, verdict] : asked) {
      const auto found = now.find(job);
      if (found == now.end() || found->second != verdict) ++late;
      kept.Keep(job, verdict, AnswerTo(verdict));
    }
    asked.clear();
  }

  void CheckAnswers(const std::vector<std::string>& due) {
    for (const std::string& job : due) RC_ASSERT(now.contains(job));
    for (const auto& [job, verdict] : now) {
      const RelaxationReport* found = kept.Find(job, verdict);
      RC_ASSERT((found == nullptr) == (std::count(due.begin(), due.end(), job) == 1));
      if (found == nullptr) continue;
      ++answered;
      RC_ASSERT(found->solved == AnswerTo(verdict).solved);
    }
  }

  void Cycle() {
    ChangeVerdicts();
    kept.Follow(now);
    TakeAnswers();
    const std::vector<std::string> due = kept.Due();
    CheckAnswers(due);
    if (!due.empty() && *Below(3) > 0) asked.emplace(due[0], *kept.VerdictOf(due[0]));
  }
};

TEST(KeptRelaxationsProperty, AWaitingJobIsDueOrHasTheAnswerToItsVerdict) {
  std::size_t answered = 0;
  std::size_t late = 0;
  CheckProperty(300, [&] {
    History history;
    const int cycles = *Below(30);
    for (int cycle = 0; cycle < cycles; ++cycle) history.Cycle();
    answered += history.answered;
    late += history.late;
  });
  EXPECT_GT(answered, 100U) << "too few answers to say anything";
  EXPECT_GT(late, 100U) << "too few late ones";
}

}  // namespace
}  // namespace strata::testing
