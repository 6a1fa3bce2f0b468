// A regexMatch compiles or gives one line; matching names ends and says the same each time. The
// first line is the pattern, the others are names.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "model/name_pattern.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto take_line = [&] {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() < rest.size() ? line.size() + 1 : line.size());
    return line;
  };
  const std::string_view text = take_line();
  const auto pattern = strata::NamePattern::Compile(text);
  if (!pattern) {
    CHECK(!pattern.error().message.empty());
    return 0;
  }
  CHECK(pattern->text() == text);
  const strata::NamePattern again = *strata::NamePattern::Compile(text);
  CHECK(again == *pattern);
  while (!rest.empty()) {
    const std::string_view name = take_line();
    CHECK(pattern->Matches(name) == again.Matches(name));
  }
  return 0;
}
