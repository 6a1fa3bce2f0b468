#include "sched/domain_index.h"

namespace strata {

DomainShape::DomainShape(const HyperNodeTree& tree, HyperNodeId domain)
    : nodes(tree.NodesOf(domain)) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const ChainId chain = tree.ChainOf(nodes[i]);
    if (groups.empty() || groups.back().chain != chain) {
      const auto at = static_cast<std::uint32_t>(i);
      groups.push_back({.chain = chain, .leaf = tree.LeafOf(chain), .begin = at, .end = at});
    }
    ++groups.back().end;
  }
}

DomainIndex::DomainIndex(const DomainShape& shape, ClassView& view, Start start)
    : view_(view),
      start_(start),
      group_of_(shape.nodes.size()),
      feasible_(shape.groups.size(), 0),
      best_(shape.groups.size(), 0) {
  std::vector<Score> scores(shape.nodes.size());
  FillScores(shape.nodes, scores);
  scores_.Reset(scores);
  for (std::size_t g = 0; g < shape.groups.size(); ++g) {
    const DomainShape::Group& group = shape.groups[g];
    std::size_t best = group.begin;
    for (std::size_t i = group.begin; i < group.end; ++i) {
      group_of_[i] = static_cast<std::uint32_t>(g);
      if (scores[i] == kNoScore) continue;
      ++feasible_[g];
      if (scores[i] > scores[best]) best = i;
    }
    best_[g] = best;
  }
}

void DomainIndex::FillScores(std::span<const NodeId> nodes, std::span<Score> out) {
  if (start_ == Start::kNow) {
    view_.Scores(nodes, out);
  } else {
    view_.FutureScores(nodes, out);
  }
}

void DomainIndex::Refresh(const DomainShape& shape, std::size_t position) {
  Score score = kNoScore;
  FillScores(shape.nodes.subspan(position, 1), std::span(&score, 1));
  const Score before = scores_.at(position);
  if (score == before) return;
  const std::uint32_t g = group_of_[position];
  if (before == kNoScore) ++feasible_[g];
  if (score == kNoScore) --feasible_[g];
  scores_.Update(position, score);
  best_[g] = scores_.Best(shape.groups[g].begin, shape.groups[g].end);
}

}  // namespace strata
