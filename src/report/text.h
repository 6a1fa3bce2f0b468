#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Text for people: aligned columns, wrapped sentences, and colours where a terminal shows them.
namespace strata {

struct TextStyle {
  bool colour = false;
  std::size_t width = 100;  // sentences are wrapped at it
  bool fit = false;         // tables, too, are at most that wide; else as wide as they are
};

enum class Ink : std::uint8_t { kPlain, kBold, kDim, kGreen, kYellow, kRed };

// `text` in that colour, or as it is.
[[nodiscard]] std::string Paint(std::string_view text, Ink ink, const TextStyle& style);

// How many columns a terminal gives to UTF-8 text (one per code point).
[[nodiscard]] std::size_t DisplayWidth(std::string_view text);

// The words of `text` on lines of at most style.width columns, each behind `indent` spaces and
// ended by a newline. A word longer than a line stands alone.
[[nodiscard]] std::string Wrap(std::string_view text, std::size_t indent, const TextStyle& style);

// Wraps each line by itself; the continuation lines are indented as the line is. A line that begins
// with kubectl or strata is a command to copy and stays whole.
[[nodiscard]] std::string WrapLines(const std::vector<std::string>& lines, const TextStyle& style);

// Rows under a heading, two spaces between columns, no spaces at the end of a line.
//
// Where it has to fit, columns are left out in the order of `spare`, then the widest of those that
// may be cut lose letters, until it fits or nothing is left to save.
class TextTable {
 public:
  enum class Align : std::uint8_t { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
    int spare = 0;           // the highest is left out first, equal ones together; 0: never
    std::size_t cut_to = 0;  // cells may be cut to this width; 0: never
  };
  struct Cell {
    std::string text;
    Ink ink = Ink::kPlain;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: one cell for each column.
  void AddRow(std::vector<Cell> cells);
  // Free text below the last row, such as the sentence that belongs to it: lines that end in
  // newlines.
  void AddText(std::string_view lines);
  [[nodiscard]] std::string Render(const TextStyle& style) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::string below;
  };
  // By column; none is left out.
  using Widths = std::vector<std::optional<std::size_t>>;
  [[nodiscard]] Widths WidthsIn(const TextStyle& style) const;
  void LeaveOut(std::size_t limit, Widths& widths) const;
  void Cut(std::size_t limit, Widths& widths) const;
  [[nodiscard]] std::string Line(const std::vector<Cell>& cells,
                                 const Widths& widths,
                                 const TextStyle& style) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace strata
