// What one cycle did with one job, put together from its trace.
#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "explain/explain.h"

namespace strata {
namespace {

constexpr std::size_t kOtherNodes = 3;

const std::string& JobOf(const TraceRecord& record) {
  return std::visit([](const auto& known) -> const std::string& { return known.job; }, record);
}

std::int32_t LastCycleOf(const TraceLog& trace, const std::string& job) {
  std::int32_t cycle = 0;
  for (const TraceLog::Entry& entry : trace.entries()) {
    if (JobOf(entry.record) == job) cycle = entry.cycle;
  }
  return cycle;
}

std::vector<Explanation::NamedScore> BestFirst(const ScoresByName& total) {
  std::vector<Explanation::NamedScore> sorted(total.begin(), total.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second > b.second;
  });
  return sorted;
}

class Story {
 public:
  explicit Story(Explanation& out) : out_(out), placed_(out.outcome.reason.empty()) {}

  void operator()(const GradientRecord& record) {
    if (Over()) return;
    Explanation::Search& search = SearchOf(record.sub_job, record.root);
    search.tiers.clear();
    search.by_tier = true;
    for (const GradientRecord::Tier& tier : record.tiers) {
      Explanation::Tier& told = search.tiers.emplace_back();
      told.tier = tier.tier;
      told.open = tier.eligible;
      std::map<std::string, std::vector<std::string>> by_reason;
      for (const GradientRecord::Rejected& entry : tier.rejected) {
        by_reason[entry.reason].push_back(entry.hypernode);
      }
      told.ruled_out.assign(by_reason.begin(), by_reason.end());
    }
  }

  void operator()(const HyperNodeScoreRecord& record) {
    if (Over() || record.total.empty()) return;
    Explanation::Tier& tier = TierOf(record);
    tier.failed = record.failed;
    tier.chosen = record.chosen;
    tier.scores = BestFirst(record.total);
    tier.by_plugin = record.scores;
    if (record.sub_job.empty() && !record.chosen.empty()) domain_ = record.chosen;
  }

  void operator()(const NodeScoreRecord& record) {
    NodeScores& scores = node_scores_[record.pod];
    scores = {};
    scores.node = record.chosen;
    for (Explanation::NamedScore& entry : BestFirst(record.total)) {
      if (entry.first == record.chosen) {
        scores.chosen = entry.second;
      } else if (scores.others.size() < kOtherNodes) {
        scores.others.push_back(std::move(entry));
      }
    }
  }

  void operator()(const RejectRecord& record) { static_cast<void>(record); }

  void operator()(const StepRecord& record) {
    using Step = StepRecord::Kind;
    switch (record.kind) {
      case Step::kAllocate:
      case Step::kPipeline:
        trial_.push_back({.name = record.pod,
                          .node = record.node,
                          .waits = record.kind == Step::kPipeline,
                          .score = std::nullopt,
                          .devices = record.devices});
        break;
      case Step::kDiscard:
        trial_.clear();
        break;
      case Step::kCommit:
        KeepTrial();
        committed_ = true;
        break;
      case Step::kEvict:
        break;
    }
  }

  void operator()(const EvictionRecord& record) { static_cast<void>(record); }  // TellEvictions

  void operator()(const NearestMissRecord& record) {
    const auto same = [&](const Explanation::Miss& miss) {
      return miss.record.sub_job == record.sub_job && miss.record.tier == record.tier;
    };
    std::erase_if(out_.misses, same);
    out_.misses.push_back({.record = record, .holders = {}});
  }

  void Finish() {
    KeepTrial();
    for (Explanation::Pod& pod : out_.pods) {
      const auto known = node_scores_.find(pod.name);
      // Pods that follow the tree by rank are not where they scored best, but where another one
      // did.
      if (known == node_scores_.end() || known->second.node != pod.node) continue;
      pod.score = known->second.chosen;
      pod.others = known->second.others;
    }
    // A sub-group is searched for below every HyperNode that the job tries; what counts is the one
    // it got, and without one the nearest misses say more.
    std::erase_if(out_.searches, [&](const Explanation::Search& search) {
      return !search.sub_job.empty() && search.root != domain_ && HasJobSearch();
    });
    // Where no tiers were to be searched there is nothing to tell.
    std::erase_if(out_.searches, [](const Explanation::Search& search) { return !search.by_tier; });
  }

 private:
  struct NodeScores {
    std::string node;  // the one that was chosen
    Score chosen = 0;
    std::vector<Explanation::NamedScore> others;
  };

  // How a job got its domain is told by its first commit; what it lacks now, by its last search.
  [[nodiscard]] bool Over() const { return placed_ && committed_; }

  [[nodiscard]] bool HasJobSearch() const {
    return std::any_of(out_.searches.begin(), out_.searches.end(), [](const auto& search) {
      return search.sub_job.empty();
    });
  }

  void KeepTrial() {
    for (Explanation::Pod& pod : trial_) out_.pods.push_back(std::move(pod));
    trial_.clear();
  }

  Explanation::Search& SearchOf(const std::string& sub_job, const std::string& root) {
    const auto it =
        std::find_if(out_.searches.begin(), out_.searches.end(), [&](const auto& known) {
          return known.sub_job == sub_job && known.root == root;
        });
    const auto at = it == out_.searches.end()
                        ? out_.searches.size()
                        : static_cast<std::size_t>(it - out_.searches.begin());
    if (at == out_.searches.size()) {
      out_.searches.push_back({.sub_job = sub_job, .root = root, .tiers = {}, .by_tier = false});
    }
    latest_[sub_job] = at;
    return out_.searches[at];
  }

  // The tier of the latest search of that sub-job that the scores are of. Without topology
  // there is no search by tier: then it is the one HyperNode that was given.
  Explanation::Tier& TierOf(const HyperNodeScoreRecord& record) {
    const std::string& some = record.total.begin()->first;
    if (!latest_.contains(record.sub_job)) SearchOf(record.sub_job, some);
    Explanation::Search& search = out_.searches[latest_.at(record.sub_job)];
    for (Explanation::Tier& tier : search.tiers) {
      if (std::find(tier.open.begin(), tier.open.end(), some) != tier.open.end()) return tier;
    }
    Explanation::Tier& tier = search.tiers.emplace_back();
    tier.open = {some};
    return tier;
  }

  Explanation& out_;
  bool placed_;
  bool committed_ = false;
  std::string domain_;
  std::map<std::string, std::size_t> latest_;  // by sub-job, into out_.searches
  std::map<std::string, NodeScores> node_scores_;
  std::vector<Explanation::Pod> trial_;
};

EvictionRecord ChoiceOf(const RunResult::Evictions& plan, const TraceLog& log) {
  for (const TraceLog::Entry& entry : log.entries()) {
    const auto* record = std::get_if<EvictionRecord>(&entry.record);
    if (record == nullptr || entry.cycle != plan.cycle) continue;
    if (record->job == plan.claimant && record->action == plan.action) return *record;
  }
  return {};
}

void TellEvictions(const RunResult& result, const TraceLog& log, Explanation& out) {
  for (const RunResult::Evictions& plan : result.evictions) {
    if (plan.claimant == out.job && !plan.TakesBack()) {
      out.evictions.push_back({plan, ChoiceOf(plan, log)});
    }
    for (const RunResult::Evictions::Victim& victim : plan.victims) {
      if (victim.job != out.job) continue;
      RunResult::Evictions& own = out.evicted_for.emplace_back(plan);
      own.victims = {victim};
    }
  }
}

}  // namespace

Explanation TellStory(const RunResult& result, const TraceLog& log, const std::string& job) {
  Explanation out;
  out.job = job;
  out.outcome = result.jobs.at(job);
  out.cycle = LastCycleOf(log, job);
  Story story(out);
  for (const TraceLog::Entry& entry : log.entries()) {
    if (entry.cycle == out.cycle && JobOf(entry.record) == job) std::visit(story, entry.record);
  }
  story.Finish();
  TellEvictions(result, log, out);
  return out;
}

}  // namespace strata
