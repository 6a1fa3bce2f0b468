#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/labels.h"

namespace strata {

// The labels of a node, to be read like Labels. In one block that copies share: a cluster has a
// hundred thousand nodes with a dozen labels each, and more than one reader keeps them.
class NodeLabels {
 public:
  using Entry = std::pair<std::string_view, std::string_view>;

  class Iterator {
   public:
    Iterator(const NodeLabels& labels, std::size_t at) : labels_(labels), at_(at) { Read(); }
    const Entry& operator*() const { return entry_; }
    const Entry* operator->() const { return &entry_; }
    Iterator& operator++() {
      ++at_;
      Read();
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    void Read() {
      if (at_ < labels_.size()) entry_ = labels_.At(at_);
    }

    const NodeLabels& labels_;
    std::size_t at_;
    Entry entry_;
  };

  NodeLabels() = default;
  NodeLabels(const Labels& labels);  // NOLINT(google-explicit-constructor): the same, packed
  NodeLabels(std::initializer_list<Labels::value_type> labels) : NodeLabels(Labels(labels)) {}

  [[nodiscard]] std::size_t size() const { return block_ == nullptr ? 0 : block_->ends.size() / 2; }
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }  // ascending by key
  [[nodiscard]] Iterator end() const { return {*this, size()}; }
  [[nodiscard]] Iterator find(std::string_view key) const;
  [[nodiscard]] bool contains(std::string_view key) const { return find(key) != end(); }

  bool operator==(const NodeLabels& other) const;

 private:
  struct Block {
    std::string text;                 // key, value, key, value, ...
    std::vector<std::uint32_t> ends;  // of each of these in the text
    bool operator==(const Block&) const = default;
  };
  [[nodiscard]] Entry At(std::size_t i) const;

  std::shared_ptr<const Block> block_;  // null: no label
};

}  // namespace strata
