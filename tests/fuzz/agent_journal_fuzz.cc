// Any text is a journal: what was read of it is written and read back the same, and no more than
// whole lines count.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/journal.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using strata::agent::ParseJournal;
  using strata::agent::ReadJournal;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ReadJournal read = ParseJournal(text);
  CHECK(read.good_bytes <= size);
  CHECK(read.good_bytes == 0 || text[read.good_bytes - 1] == '\n');
  CHECK(text.substr(read.good_bytes).find('\n') == std::string_view::npos);

  // A line that was torn by a crash changes nothing.
  const ReadJournal whole = ParseJournal(text.substr(0, read.good_bytes));
  CHECK(whole.journal == read.journal && whole.bad_lines == read.bad_lines);

  const std::string written = FormatJournal(read.journal);
  const ReadJournal again = ParseJournal(written);
  CHECK(again.journal == read.journal);
  CHECK(again.bad_lines == 0 && again.good_bytes == written.size());
  return 0;
}
