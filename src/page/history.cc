#include "page/history.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/dump.h"

namespace strata::page {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr Duration kBlock = std::chrono::minutes(5);
// Samples and marks of one answer: more than a strip has pixels.
constexpr std::size_t kMaxMarks = 4000;

bool Waits(const JobColumns& jobs, std::size_t at) {
  return !jobs.name[at].empty() && !jobs.reason[at].empty();
}

std::string NameAt(const std::vector<std::string>& names, Place place) {
  return place < 0 ? "" : names[static_cast<std::size_t>(place)];
}

std::int64_t Milliseconds(Time time) {
  return time.time_since_epoch().count();
}

void AddJob(const ClusterColumns& before,
            const ClusterColumns& after,
            std::size_t at,
            std::vector<Decision>& out) {
  const JobColumns& jobs = after.jobs;
  const bool was_there = at < before.jobs.name.size() && !before.jobs.name[at].empty();
  if (jobs.name[at].empty()) {
    if (was_there) out.push_back({before.jobs.ns[at] + "/" + before.jobs.name[at], "gone", "", 0});
    return;
  }
  const std::string name = jobs.ns[at] + "/" + jobs.name[at];
  const bool ran = was_there && before.jobs.phase[at] == "Running";
  if (jobs.phase[at] == "Running" && !ran) {
    out.push_back(
        {name, "placed", NameAt(after.hypernodes.name, jobs.hypernode[at]), jobs.tier[at]});
  } else if (Waits(jobs, at) && !(was_there && before.jobs.reason[at] == jobs.reason[at])) {
    out.push_back({name, "waits", jobs.reason[at], 0});
  }
}

}  // namespace

std::vector<Decision> DecisionsBetween(const ClusterColumns& before, const ClusterColumns& after) {
  std::vector<Decision> decisions;
  for (std::size_t at = 0; at < after.jobs.name.size(); ++at) AddJob(before, after, at, decisions);
  if (before.nodes.name == after.nodes.name) {
    for (const auto& [node, note] : after.nodes.note) {
      const auto found = before.nodes.note.find(node);
      if (found != before.nodes.note.end() && found->second == note) continue;
      decisions.push_back({"", "node", fmt::format("{}: {}", after.nodes.name[node], note), 0});
    }
  }
  return decisions;
}

void History::Note(const ClusterColumns& columns,
                   const Stamp& stamp,
                   const GpuSums& sums,
                   Time now) {
  const bool is_new = blocks_.empty() || blocks_.back().epoch != stamp.epoch;
  is_behind_ = !is_new && now < next_;
  if (is_behind_) return;
  next_ = now + kBetween;
  Moment moment{.time = now,
                .change = {},
                .decisions = {},
                .free = sums.free,
                .used = sums.used,
                .waiting = 0,
                .fits = {}};
  // Positions of jobs mean something within an epoch.
  if (!is_new) moment.decisions = DecisionsBetween(*last_, columns);
  if (is_new || now - blocks_.back().time >= kBlock) {
    Open(columns, stamp, now);
  } else {
    moment.change = RenderChange(*last_, columns, stamp);
  }
  for (std::size_t at = 0; at < columns.jobs.name.size(); ++at) {
    if (Waits(columns.jobs, at)) ++moment.waiting;
  }
  for (const auto& tier : columns.tiers) moment.fits.emplace_back(tier.tier, tier.pods);
  last_ = columns;
  const std::size_t size = sizeof(Moment) + moment.change.size() + 64 * moment.decisions.size();
  blocks_.back().bytes += size;
  bytes_ += size;
  blocks_.back().moments.push_back(std::move(moment));
  Drop(now);
}

void History::Open(const ClusterColumns& columns, const Stamp& stamp, Time now) {
  Block& block = blocks_.emplace_back();
  block.time = now;
  block.epoch = stamp.epoch;
  block.picture = RenderCluster(columns, stamp);
  block.bytes = block.picture.size();
  bytes_ += block.bytes;
}

void History::Drop(Time now) {
  const auto is_old = [&] { return blocks_.size() > 1 && now - blocks_[1].time > kSpan; };
  while (blocks_.size() > 1 && (bytes_ > max_bytes_ || is_old())) {
    bytes_ -= blocks_.front().bytes;
    blocks_.pop_front();
  }
}

std::string History::Overview() const {
  OrderedJson json = {{"samples", OrderedJson::array()}, {"decisions", OrderedJson::array()}};
  std::size_t moments = 0;
  for (const Block& block : blocks_) moments += block.moments.size();
  const std::size_t step = moments / kMaxMarks + 1;
  std::size_t i = 0;
  for (const Block& block : blocks_) {
    for (const Moment& moment : block.moments) {
      const std::int64_t time = Milliseconds(moment.time);
      if (++i % step == 0 || i == moments) {
        OrderedJson fits = OrderedJson::array();
        for (const auto& [tier, pods] : moment.fits) fits.push_back({tier, pods});
        json["samples"].push_back(
            {time, moment.free, moment.used, moment.waiting, std::move(fits)});
      }
      for (const Decision& decision : moment.decisions) {
        json["decisions"].push_back({{"time", time},
                                     {"job", decision.job},
                                     {"outcome", decision.outcome},
                                     {"where", decision.where},
                                     {"tier", decision.tier}});
      }
    }
  }
  OrderedJson& decisions = json["decisions"];
  if (decisions.size() > kMaxMarks) {
    decisions.erase(decisions.begin(),
                    decisions.begin() + static_cast<std::ptrdiff_t>(decisions.size() - kMaxMarks));
  }
  return DumpJson(json) + "\n";
}

std::string History::At(Time at) const {
  if (blocks_.empty()) return "";
  auto block = blocks_.begin();
  while (std::next(block) != blocks_.end() && std::next(block)->time <= at) ++block;
  // The texts are documents already.
  std::string out = R"({"cluster":)" + block->picture + R"(,"changes":[)";
  bool is_first = true;
  for (const Moment& moment : block->moments) {
    if (moment.time > at || moment.change.empty()) continue;
    if (!std::exchange(is_first, false)) out += ',';
    out += moment.change;
  }
  return out + "]}\n";
}

}  // namespace strata::page
