#include "report/text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace strata {
namespace {

std::string_view CodeOf(Ink ink) {
  switch (ink) {
    case Ink::kPlain:
      return "";
    case Ink::kBold:
      return "1";
    case Ink::kDim:
      return "2";
    case Ink::kGreen:
      return "32";
    case Ink::kYellow:
      return "33";
    case Ink::kRed:
      return "31";
  }
  return "";
}

std::size_t Total(const std::vector<std::optional<std::size_t>>& widths) {
  std::size_t total = 0;
  std::size_t shown = 0;
  for (const auto& width : widths) {
    if (!width) continue;
    total += *width;
    ++shown;
  }
  return total + (shown > 0 ? 2 * (shown - 1) : 0);
}

// The first `width` columns of `text`, the last of them an ellipsis if something is missing.
std::string Shorten(std::string_view text, std::size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  std::size_t end = 0;
  for (std::size_t shown = 0; end < text.size(); ++end) {
    const bool starts = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (starts && ++shown == width) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace

std::string Paint(std::string_view text, Ink ink, const TextStyle& style) {
  if (!style.colour || ink == Ink::kPlain || text.empty()) return std::string(text);
  std::string painted = "\x1b[";
  painted.append(CodeOf(ink)).append("m").append(text).append("\x1b[0m");
  return painted;
}

std::size_t DisplayWidth(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // not a continuation byte
  }));
}

std::string Wrap(std::string_view text, std::size_t indent, const TextStyle& style) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t begin = text.find_first_not_of(" \n");
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(" \n"));
    text.remove_prefix(word.size());
    const std::size_t width = DisplayWidth(word);
    if (column > 0 && column + 1 + width > style.width) {
      out += '\n';
      column = 0;
    }
    if (column == 0) {
      out.append(indent, ' ');
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += word;
    column += width;
  }
  if (!out.empty()) out += '\n';
  return out;
}

std::string WrapLines(const std::vector<std::string>& lines, const TextStyle& style) {
  std::string out;
  for (const std::string& line : lines) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view words = std::string_view(line).substr(indent);
    // A command is copied into a shell, so no line break may come into it.
    if (words.starts_with("kubectl ") || words.starts_with("strata ")) {
      out += line + '\n';
    } else {
      out += Wrap(line, indent, style);
    }
  }
  return out;
}

void TextTable::AddRow(std::vector<Cell> cells) {
  CHECK(cells.size() == columns_.size());
  rows_.push_back({std::move(cells), ""});
}

void TextTable::AddText(std::string_view lines) {
  CHECK(!rows_.empty());
  rows_.back().below += lines;
}

void TextTable::LeaveOut(std::size_t limit, Widths& widths) const {
  while (Total(widths) > limit) {
    int most = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (widths[i]) most = std::max(most, columns_[i].spare);
    }
    if (most == 0) return;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (columns_[i].spare == most) widths[i].reset();
    }
  }
}

void TextTable::Cut(std::size_t limit, Widths& widths) const {
  for (std::size_t total = Total(widths); total > limit; --total) {
    std::optional<std::size_t>* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::size_t least = std::max(columns_[i].cut_to, DisplayWidth(columns_[i].title));
      if (columns_[i].cut_to == 0 || !widths[i] || *widths[i] <= least) continue;
      if (widest == nullptr || *widths[i] > **widest) widest = &widths[i];
    }
    if (widest == nullptr) return;
    --**widest;
  }
}

TextTable::Widths TextTable::WidthsIn(const TextStyle& style) const {
  Widths widths;
  for (const Column& column : columns_) widths.emplace_back(DisplayWidth(column.title));
  for (const Row& row : rows_) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      widths[i] = std::max(*widths[i], DisplayWidth(row.cells[i].text));
    }
  }
  if (!style.fit) return widths;
  LeaveOut(style.width, widths);
  Cut(style.width, widths);
  return widths;
}

std::string TextTable::Line(const std::vector<Cell>& cells,
                            const Widths& widths,
                            const TextStyle& style) const {
  std::string line;
  std::size_t spaces = 0;  // owed before the next text
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!widths[i]) continue;
    const std::string text = Shorten(cells[i].text, *widths[i]);
    const std::size_t padding = *widths[i] - DisplayWidth(text);
    const bool right = columns_[i].align == Align::kRight;
    if (right) spaces += padding;
    if (!text.empty()) {
      line.append(spaces, ' ');
      line += Paint(text, cells[i].ink, style);
      spaces = 0;
    }
    spaces += (right ? 0 : padding) + 2;
  }
  return line + '\n';
}

std::string TextTable::Render(const TextStyle& style) const {
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, Ink::kBold});
  const Widths widths = WidthsIn(style);
  std::string out = Line(titles, widths, style);
  for (const Row& row : rows_) {
    out += Line(row.cells, widths, style);
    out += row.below;
  }
  return out;
}

}  // namespace strata
