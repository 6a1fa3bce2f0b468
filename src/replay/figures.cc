#include "replay/figures.h"

#include <algorithm>
#include <cmath>

namespace strata::replay {
namespace {

constexpr double kMillisPerSecond = 1000;
constexpr double kMillisPerHour = 3'600'000;
constexpr Millis kShort = 10'000;  // shorter jobs count as this long in a slowdown
constexpr std::size_t kCurvePoints = 160;

double Seconds(Millis time) {
  return static_cast<double>(time) / kMillisPerSecond;
}

double ShareOf(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

// REQUIRES: sorted, not empty.
Millis Percentile(const std::vector<Millis>& sorted, std::size_t percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

// The share of spans up to x, at points that are even on a logarithmic axis.
std::vector<CurvePoint> CumulativeCurve(std::vector<Millis> spans) {
  std::vector<CurvePoint> curve;
  if (spans.empty()) return curve;
  std::sort(spans.begin(), spans.end());
  Millis x = 1000;
  while (true) {
    const auto below = std::upper_bound(spans.begin(), spans.end(), x) - spans.begin();
    curve.push_back({Seconds(x), static_cast<double>(below) / static_cast<double>(spans.size())});
    if (x >= spans.back()) return curve;
    x += std::max<Millis>(x / 8, 1);
  }
}

// Means over equal parts of the time.
std::vector<CurvePoint> MeanCurve(const std::vector<Moment>& moments,
                                  double scale,
                                  std::int64_t Moment::*value) {
  std::vector<CurvePoint> curve;
  if (moments.size() < 2) return curve;
  const Millis first = moments.front().at;
  const Millis step =
      std::max<Millis>((moments.back().at - first) / static_cast<Millis>(kCurvePoints), 1);
  std::size_t at = 0;
  for (Millis from = first; from < moments.back().at; from += step) {
    double sum = 0;
    const Millis to = std::min(from + step, moments.back().at);
    for (std::size_t i = at; i < moments.size() && moments[i].at < to; ++i) {
      const Millis begin = std::max(moments[i].at, from);
      const Millis end = i + 1 < moments.size() ? std::min(moments[i + 1].at, to) : to;
      if (end > begin) {
        sum += static_cast<double>(moments[i].*value) * static_cast<double>(end - begin);
      }
      if (i + 1 < moments.size() && moments[i + 1].at <= to) at = i + 1;
    }
    curve.push_back({static_cast<double>(from - first) / kMillisPerHour,
                     sum / static_cast<double>(to - from) * scale});
  }
  return curve;
}

class FigureMaker {
 public:
  FigureMaker(const Workload& workload, const Fabric& fabric, const EngineResult& result)
      : workload_(workload), fabric_(fabric), result_(result) {}

  Figures Make() {
    out_.jobs = static_cast<std::int64_t>(workload_.jobs.size());
    by_size_.resize(kSizeNames.size());
    out_.gangs.by_level.resize(fabric_.levels.size() + 1);
    for (std::uint32_t job = 0; job < workload_.jobs.size(); ++job) AddJob(job);
    Spreads();
    OverTime();
    return std::move(out_);
  }

 private:
  void AddJob(std::uint32_t index) {
    const Workload::Job& job = workload_.jobs[index];
    const JobClass& job_class = workload_.classes[job.job_class];
    const JobRun& run = result_.runs[index];
    if (!job.fits) ++out_.never_fit;
    if (run.end == JobRun::kNever) return;
    ++out_.finished;
    const Millis wait = run.start - job.submit;
    const Millis completion = run.end - job.submit;
    const auto gpus = static_cast<double>(job_class.TotalGpus());
    waits_.push_back(wait);
    completions_.push_back(completion);
    by_size_[SizeClassOf(job_class.TotalGpus())].push_back(wait);
    if (index >= workload_.jobs.size() / 10) window_waits_.push_back(wait);
    slowdowns_ += std::max(1.0, Seconds(completion) / Seconds(std::max(job.duration, kShort)));
    const double held = gpus * static_cast<double>(run.end - run.start);
    held_ += held;
    useful_ += gpus * static_cast<double>(job.duration);
    weighted_wait_ += held * Seconds(wait);
    out_.waiting_gpu_hours += gpus * static_cast<double>(wait) / kMillisPerHour;
    if (job_class.pods > 1) AddGang(index);
  }

  void AddGang(std::uint32_t index) {
    const Workload::Job& job = workload_.jobs[index];
    const JobRun& run = result_.runs[index];
    gang_waits_.push_back(run.start - job.submit);
    gang_completions_.push_back(run.end - job.submit);
    ++out_.gangs.count;
    ++out_.gangs.by_level[run.level];
    if (run.leaves == 1) ++out_.gangs.in_one_leaf;
    if (run.leaves <= workload_.fewest_leaves[job.job_class]) {
      ++out_.gangs.as_few_leaves_as_possible;
    }
    if (run.level > run.level_could) ++out_.gangs.above_possible_tier;
    out_.gangs.leaves_mean += run.leaves;
    out_.gangs.crossings_mean += run.crossings;
  }

  void Spreads() {
    out_.wait_curve = CumulativeCurve(waits_);
    out_.wait = SpreadOf(std::move(waits_));
    out_.gang_wait = SpreadOf(std::move(gang_waits_));
    out_.completion = SpreadOf(std::move(completions_));
    out_.gang_completion = SpreadOf(std::move(gang_completions_));
    out_.window_wait = SpreadOf(std::move(window_waits_));
    for (auto& waits : by_size_) out_.wait_by_size.push_back(SpreadOf(std::move(waits)));
    out_.slowdown_mean = ShareOf(slowdowns_, static_cast<double>(out_.finished));
    out_.wait_by_gpu_time_s = ShareOf(weighted_wait_, held_);
    out_.gpu_hours = held_ / kMillisPerHour;
    const auto gangs = static_cast<double>(out_.gangs.count);
    out_.gangs.leaves_mean = ShareOf(out_.gangs.leaves_mean, gangs);
    out_.gangs.crossings_mean = ShareOf(out_.gangs.crossings_mean, gangs);
  }

  void OverTime() {
    const std::vector<Moment>& moments = result_.moments;
    out_.decisions = static_cast<std::int64_t>(result_.decisions);
    if (moments.empty()) return;
    const auto total = static_cast<double>(fabric_.TotalGpus());
    const auto span = static_cast<double>(moments.back().at - moments.front().at);
    const Millis window_from = workload_.jobs[workload_.jobs.size() / 10].submit;
    const Millis window_to = workload_.jobs.back().submit;
    double window_held = 0;
    double free = 0;
    double stranded = 0;
    for (std::size_t i = 0; i + 1 < moments.size(); ++i) {
      const auto time = static_cast<double>(moments[i + 1].at - moments[i].at);
      free += time * (total - static_cast<double>(moments[i].held));
      stranded += time * static_cast<double>(moments[i].stranded);
      const Millis begin = std::max(moments[i].at, window_from);
      const Millis end = std::min(moments[i + 1].at, window_to);
      if (end > begin) {
        window_held += static_cast<double>(end - begin) * static_cast<double>(moments[i].held);
      }
    }
    out_.makespan_s = span / kMillisPerSecond;
    out_.utilization = ShareOf(held_, span * total);
    out_.effective_utilization = ShareOf(useful_, span * total);
    out_.window_utilization =
        ShareOf(window_held, static_cast<double>(window_to - window_from) * total);
    out_.stranded = ShareOf(stranded, free);
    for (const std::int64_t blocked : result_.blocked) {
      out_.blocked_gpu_hours.push_back(static_cast<double>(blocked) / kMillisPerHour);
    }
    for (const std::int64_t placeable : result_.placeable) {
      out_.placeable.push_back(ShareOf(static_cast<double>(placeable), span));
    }
    for (const double loss : result_.rack_loss) out_.rack_loss.push_back(ShareOf(loss, span));
    out_.gini = ShareOf(result_.gini, span);
    out_.held_curve = MeanCurve(moments, ShareOf(1, total), &Moment::held);
    out_.queue_curve = MeanCurve(moments, 1, &Moment::waiting);
  }

  const Workload& workload_;
  const Fabric& fabric_;
  const EngineResult& result_;
  Figures out_;
  std::vector<Millis> waits_;
  std::vector<Millis> gang_waits_;
  std::vector<Millis> completions_;
  std::vector<Millis> gang_completions_;
  std::vector<Millis> window_waits_;
  std::vector<std::vector<Millis>> by_size_;
  double held_ = 0;  // GPU-milliseconds
  double useful_ = 0;
  double slowdowns_ = 0;
  double weighted_wait_ = 0;
};

}  // namespace

Spread SpreadOf(std::vector<Millis> spans) {
  Spread spread;
  if (spans.empty()) return spread;
  std::sort(spans.begin(), spans.end());
  double sum = 0;
  for (const Millis span : spans) sum += Seconds(span);
  spread.count = static_cast<std::int64_t>(spans.size());
  spread.mean_s = sum / static_cast<double>(spans.size());
  spread.p50_s = Seconds(Percentile(spans, 50));
  spread.p95_s = Seconds(Percentile(spans, 95));
  spread.p99_s = Seconds(Percentile(spans, 99));
  spread.max_s = Seconds(spans.back());
  return spread;
}

std::size_t SizeClassOf(std::int64_t gpus) {
  constexpr std::array<std::int64_t, 5> kUpTo = {1, 7, 8, 64, 256};
  return static_cast<std::size_t>(std::lower_bound(kUpTo.begin(), kUpTo.end(), gpus) -
                                  kUpTo.begin());
}

const char* ToString(BlockedBy why) {
  switch (why) {
    case BlockedBy::kCapacity:
      return "capacity";
    case BlockedBy::kFragmentation:
      return "fragmentation";
    case BlockedBy::kTopology:
      return "topology";
    case BlockedBy::kOrder:
      return "order";
  }
  return "";
}

Figures MakeFigures(const Workload& workload, const Fabric& fabric, const EngineResult& result) {
  return FigureMaker(workload, fabric, result).Make();
}

}  // namespace strata::replay
