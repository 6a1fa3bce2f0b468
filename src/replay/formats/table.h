#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/trace.h"

namespace strata::replay {

// "FILE:LINE:COLUMN: message", lines and columns from 1.
[[nodiscard]] tl::unexpected<Error> BadPlace(std::string_view path,
                                             std::size_t line,
                                             std::size_t column,
                                             std::string_view message);

// A table as text: a line with the names of columns, then one line per row. Fields are separated by
// commas and may be quoted; empty lines and lines that begin with '#' are skipped.
//
// A row is valid until the next one is read; `text` must outlive the table.
class Table {
 public:
  // kInvalidArgument when there is no header or a column is named twice.
  [[nodiscard]] static Result<Table> Open(std::string_view path, std::string_view text);

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] bool Has(std::string_view column) const;
  [[nodiscard]] const std::vector<std::string>& comments() const { return comments_; }

  // The next row; false at the end. kInvalidArgument when it has not as many fields as the header.
  [[nodiscard]] Result<bool> Next();
  [[nodiscard]] std::size_t line() const { return line_; }

  // Fields of the row. "" for a column that the table does not have; numbers fail on "".
  [[nodiscard]] std::string_view Text(std::string_view column) const;
  // Whole, from `least` to 10^9.
  [[nodiscard]] Result<std::int32_t> Count(std::string_view column, std::int32_t least) const;
  // A number of seconds, not negative, up to 10^10; finer than a millisecond is cut off.
  [[nodiscard]] Result<Millis> Seconds(std::string_view column) const;
  // "2017-10-03 05:07:15", with "T" instead of the space, fractions and an offset allowed; since
  // 1970, up to 10^10 seconds, which is in the year 2286.
  [[nodiscard]] Result<Millis> Moment(std::string_view column) const;
  // An error at the field of this column.
  [[nodiscard]] tl::unexpected<Error> Bad(std::string_view column, std::string_view message) const;
  // The same for "want ..., found <the field>".
  [[nodiscard]] tl::unexpected<Error> Want(std::string_view column, std::string_view wanted) const;

 private:
  Table(std::string_view path, std::string_view text) : path_(path), text_(text) {}
  // The next line that is neither empty nor a comment; none at the end.
  [[nodiscard]] std::optional<std::string_view> NextLine();
  [[nodiscard]] Status Split(std::string_view line);
  [[nodiscard]] std::optional<std::size_t> IndexOf(std::string_view column) const;

  std::string path_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::vector<std::string> columns_;
  std::vector<std::string> comments_;
  std::vector<std::string> fields_;
  std::vector<std::size_t> places_;  // the column of each field in its line, from 1
};

// A decimal number of seconds in milliseconds, finer parts cut off; none when it is none, negative
// or above 10^10.
[[nodiscard]] std::optional<Millis> ParseSeconds(std::string_view text);
// See Table::Moment.
[[nodiscard]] std::optional<Millis> ParseMoment(std::string_view text);
// Whole and not negative, up to 10^9.
[[nodiscard]] std::optional<std::int32_t> ParseCount(std::string_view text);

}  // namespace strata::replay
