#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/result.h"
#include "model/hypernode_spec.h"
#include "report/names.h"

// Trees of HyperNodes as rows, depth first. A Row has `name`, `label` (what people call it; may be
// ""), `depth` (0 for the first row) and `last` (of the children of its parent).
namespace strata {

// How much of a tree is shown.
struct TreeView {
  std::string under;                 // a name or label: only that one and what is below; "": all
  std::optional<std::size_t> depth;  // levels below the first row; none: as many as fit on a screen
};

// "(cluster)" for the virtual top.
[[nodiscard]] inline std::string TreeName(std::string_view name) {
  return std::string(name == kTopHyperNodeName ? "(cluster)" : name);
}

// Leaves the row that is called `name` and those below it. kNotFound names those that are near.
template <typename Row>
[[nodiscard]] Status KeepUnder(const std::string& name, std::vector<Row>& rows) {
  const auto first = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.name == name || (!row.label.empty() && row.label == name);
  });
  if (first == rows.end()) {
    std::vector<std::string> known;
    known.reserve(rows.size());
    for (const Row& row : rows) known.push_back(TreeName(row.name));
    return Fail(Code::kNotFound,
                fmt::format("--under {}: there is no such HyperNode; similar names: {}",
                            name,
                            NameSome(NearestNames(known, name, 3))));
  }
  const std::size_t top = first->depth;
  const auto end =
      std::find_if(first + 1, rows.end(), [&](const Row& row) { return row.depth <= top; });
  std::vector<Row> kept(first, end);
  for (Row& row : kept) row.depth -= top;
  rows = std::move(kept);
  return {};
}

// The greatest depth at which at most `limit` rows are shown, at least 1.
template <typename Row>
[[nodiscard]] std::size_t DepthOfAtMost(std::size_t limit, const std::vector<Row>& rows) {
  std::vector<std::size_t> count;
  for (const Row& row : rows) {
    if (count.size() <= row.depth) count.resize(row.depth + 1);
    ++count[row.depth];
  }
  std::size_t depth = 1;
  std::size_t shown = count.empty() ? 0 : count[0];
  if (count.size() > 1) shown += count[1];
  while (depth + 1 < count.size() && shown + count[depth + 1] <= limit) shown += count[++depth];
  return depth;
}

// Leaves the rows down to that depth. Returns how many are gone.
template <typename Row>
std::size_t CutBelow(std::size_t depth, std::vector<Row>& rows) {
  return std::erase_if(rows, [&](const Row& row) { return row.depth > depth; });
}

// Sets `last` of every row.
template <typename Row>
void MarkLast(std::vector<Row>& rows) {
  std::vector<bool> followed;  // by depth: a sibling comes later
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    if (followed.size() <= row->depth) followed.resize(row->depth + 1);
    row->last = !followed[row->depth];
    followed[row->depth] = true;
    followed.resize(row->depth + 1);  // what is above in the list belongs to another parent
  }
}

// The branches before each name, from row to row.
class TreeBranches {
 public:
  template <typename Row>
  [[nodiscard]] std::string Next(const Row& row) {
    if (row.depth == 0) return "";
    open_.resize(row.depth + 1);
    std::string text;
    for (std::size_t depth = 1; depth < row.depth; ++depth) text += open_[depth] ? "│  " : "   ";
    open_[row.depth] = !row.last;
    return text + (row.last ? "└─ " : "├─ ");
  }

 private:
  std::vector<bool> open_;  // by depth: whether the line goes on below
};

// What to say below a tree of which `hidden` rows are not shown; "" for none.
[[nodiscard]] inline std::string HiddenRows(std::size_t hidden, std::size_t depth) {
  if (hidden == 0) return "";
  return fmt::format(
      "{} row{} below this depth: --depth {} shows the next level, --under NAME a part of the "
      "tree.\n",
      hidden,
      hidden == 1 ? "" : "s",
      depth + 1);
}

}  // namespace strata
