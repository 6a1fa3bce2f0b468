#include "model/node_labels.h"

namespace strata {

NodeLabels::NodeLabels(const Labels& labels) {
  if (labels.empty()) return;
  auto block = std::make_shared<Block>();
  std::size_t size = 0;
  for (const auto& [key, value] : labels) size += key.size() + value.size();
  block->text.reserve(size);
  block->ends.reserve(2 * labels.size());
  for (const auto& [key, value] : labels) {
    for (const std::string* part : {&key, &value}) {
      block->text += *part;
      block->ends.push_back(static_cast<std::uint32_t>(block->text.size()));
    }
  }
  block_ = std::move(block);
}

NodeLabels::Entry NodeLabels::At(std::size_t i) const {
  const std::string_view text = block_->text;
  const std::size_t begin = i == 0 ? 0 : block_->ends[2 * i - 1];
  const std::size_t middle = block_->ends[2 * i];
  return {text.substr(begin, middle - begin),
          text.substr(middle, block_->ends[2 * i + 1] - middle)};
}

NodeLabels::Iterator NodeLabels::find(std::string_view key) const {
  std::size_t i = 0;
  while (i < size() && At(i).first != key) ++i;
  return {*this, i};
}

bool NodeLabels::operator==(const NodeLabels& other) const {
  if (block_ == other.block_) return true;
  return block_ != nullptr && other.block_ != nullptr && *block_ == *other.block_;
}

}  // namespace strata
