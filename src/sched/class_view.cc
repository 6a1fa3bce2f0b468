#include "sched/class_view.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace strata {

ClassView::ClassView(const ClusterState& state, const NodePoints& points, ClassId class_id)
    : state_(state),
      points_(points),
      spec_(state.classes().spec(class_id)),
      peers_(state, class_id) {
  for (const auto& filter : points.filters) {
    if (!filter.point->ConcernsClass(spec_)) continue;
    filters_.push_back(&filter);
    takes_only_one_ = takes_only_one_ || filter.point->TakesOnlyOne(spec_);
    if (filter.point->LooksBeyondNode(spec_)) beyond_.push_back(&filter);
  }
  for (const auto& score : points.scores) {
    if (score.point->ConcernsClass(spec_)) scores_.push_back(score.point);
  }
}

ClassView::Fact& ClassView::FactOf(NodeId node) {
  if (node.index() >= facts_.size()) facts_.resize(state_.nodes().slots());
  return facts_[node.index()];
}

bool ClassView::AdmitsSpec(NodeId node) {
  Fact& fact = FactOf(node);
  if (fact.spec_version != state_.nodes().SpecVersion(node)) {
    fact.spec_version = state_.nodes().SpecVersion(node);
    fact.admits_spec = std::all_of(filters_.begin(), filters_.end(), [&](const auto* filter) {
      return filter->point->AdmitsSpec(state_, spec_, node);
    });
  }
  return fact.admits_spec;
}

const PeerCounts* ClassView::Peers() {
  if (state_.classes().with_rules().empty() || !peers_.Concerned()) return nullptr;
  peers_.Refresh();
  return &peers_;
}

bool ClassView::PeersAdmit(NodeId node) {
  const PeerCounts* peers = Peers();
  return peers == nullptr ||
         std::all_of(points_.peer_filters.begin(),
                     points_.peer_filters.end(),
                     [&](const auto& filter) { return filter.point->AdmitsPeer(*peers, node); });
}

bool ClassView::AdmitsInAll(NodeId node) const {
  return std::all_of(beyond_.begin(), beyond_.end(), [&](const auto* filter) {
    return filter->point->AdmitsInAll(state_, spec_, node);
  });
}

bool ClassView::Admits(NodeId node) {
  return AdmitsSpec(node) && std::all_of(filters_.begin(), filters_.end(), [&](const auto* filter) {
           return filter->point->AdmitsNow(state_, spec_, node);
         });
}

std::uint32_t ClassView::CountSlots(NodeId node) const {
  Amount slots = takes_only_one_ ? 1 : std::numeric_limits<std::uint32_t>::max();
  if (!spec_.request.absent().empty()) return 0;
  const std::span<const Amount> request = spec_.request.amounts();
  const std::span<const Amount> idle = state_.nodes().Idle(node);
  const std::span<const Amount> future = state_.nodes().FutureIdle(node);
  for (std::size_t i = 0; i < request.size(); ++i) {
    if (request[i] <= 0) continue;
    const Amount free = std::min(idle[i], future[i]);
    if (free < request[i]) return 0;
    slots = std::min(slots, free / request[i]);
  }
  return static_cast<std::uint32_t>(slots);
}

std::uint32_t ClassView::Slots(NodeId node) {
  Fact& fact = FactOf(node);
  if (fact.version != state_.nodes().Version(node)) {
    std::uint32_t slots = CountSlots(node);
    if (slots > 0 && !Admits(node)) slots = 0;
    for (const auto* filter : filters_) {
      if (slots > 1) slots = filter->point->Room(state_, spec_, node, slots);
    }
    fact.slots = slots;
    fact.has_score = false;
    fact.version = state_.nodes().Version(node);
  }
  return fact.slots;
}

bool ClassView::FitsFuture(NodeId node) {
  return spec_.request.FitsIn(state_.nodes().FutureIdle(node)) && AdmitsSpec(node) &&
         std::all_of(filters_.begin(),
                     filters_.end(),
                     [&](const auto* filter) {
                       return filter->point->AdmitsFuture(state_, spec_, node);
                     }) &&
         PeersAdmit(node);
}

Rejection ClassView::WhyNot(NodeId node) {
  for (const auto* filter : filters_) {
    if (filter->point->AdmitsSpec(state_, spec_, node) &&
        filter->point->AdmitsNow(state_, spec_, node)) {
      continue;
    }
    return {filter->plugin, filter->point->Reason(state_, spec_, node)};
  }
  std::string reason;
  for (const ResourceId id : NamedIn(state_.resource_names(), spec_.request)) {
    const Amount request = spec_.request.Get(id);
    if (request <= 0 || request <= Free(state_, node, id)) continue;
    reason +=
        (reason.empty() ? "Insufficient " : ", Insufficient ") + state_.resource_names().name(id);
  }
  if (!reason.empty()) return {"resources", reason};
  for (const auto* filter : beyond_) {
    if (filter->point->AdmitsInAll(state_, spec_, node)) continue;
    return {filter->plugin, filter->point->Reason(state_, spec_, node)};
  }
  const PeerCounts* peers = Peers();
  CHECK(peers != nullptr);
  for (const auto& filter : points_.peer_filters) {
    if (filter.point->AdmitsPeer(*peers, node)) continue;
    return {filter.plugin, filter.point->PeerReason(*peers, node)};
  }
  return {"resources", reason};
}

bool ClassView::IsUniform() {
  if (Peers() != nullptr || LooksBeyondNodes()) return false;
  return std::all_of(points_.scaled.begin(), points_.scaled.end(), [&](const auto& scaled) {
    return scaled.point->IsUniform(state_, spec_);
  });
}

bool ClassView::ScoresByAmounts() const {
  return std::all_of(
      scores_.begin(), scores_.end(), [](const auto* point) { return point->ScoresByAmounts(); });
}

void ClassView::Scores(std::span<const NodeId> nodes, std::span<Score> out) {
  // Some at a time, so that what one step has read of a node is in the cache for the next.
  constexpr std::size_t kAtATime = 256;
  for (std::size_t i = 0; i < nodes.size(); i += kAtATime) {
    const std::size_t count = std::min(kAtATime, nodes.size() - i);
    ScoreSome(nodes.subspan(i, count), out.subspan(i, count));
  }
}

void ClassView::ScoreSome(std::span<const NodeId> nodes, std::span<Score> out) {
  stale_nodes_.clear();
  stale_positions_.clear();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeId node = nodes[i];
    if (Slots(node) == 0) {
      out[i] = kNoScore;
    } else if (const Fact& fact = facts_[node.index()]; fact.has_score) {
      out[i] = fact.score;
    } else {
      stale_nodes_.push_back(node);
      stale_positions_.push_back(i);
    }
  }
  if (stale_nodes_.empty()) return;
  ScoreStale();
  for (std::size_t i = 0; i < stale_nodes_.size(); ++i) {
    Fact& fact = facts_[stale_nodes_[i].index()];
    fact.score = stale_totals_[i];
    fact.has_score = true;
    out[stale_positions_[i]] = fact.score;
  }
}

void ClassView::FutureScores(std::span<const NodeId> nodes, std::span<Score> out) {
  stale_nodes_.clear();
  stale_positions_.clear();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    out[i] = kNoScore;
    if (!FitsFuture(nodes[i])) continue;
    stale_nodes_.push_back(nodes[i]);
    stale_positions_.push_back(i);
  }
  if (stale_nodes_.empty()) return;
  ScoreStale();
  for (std::size_t i = 0; i < stale_nodes_.size(); ++i) out[stale_positions_[i]] = stale_totals_[i];
}

void ClassView::ScoreStale() {
  stale_totals_.assign(stale_nodes_.size(), 0);
  stale_scores_.resize(stale_nodes_.size());
  for (const NodeScorePoint* score : scores_) {
    score->ScoreNodes(state_, spec_, stale_nodes_, stale_scores_);
    for (std::size_t i = 0; i < stale_nodes_.size(); ++i) stale_totals_[i] += stale_scores_[i];
  }
}

}  // namespace strata
