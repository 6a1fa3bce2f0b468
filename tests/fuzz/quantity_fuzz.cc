// A quantity that parses prints in a form that parses to the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/quantity.h"
#include "base/timestamp.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto quantity = strata::Quantity::Parse(text)) {
    const auto again = strata::Quantity::Parse(quantity->ToString());
    CHECK(again && *again == *quantity);
    const std::string canonical = again->ToString();  // from here on the text is always the same
    CHECK(strata::Quantity::Parse(canonical)->ToString() == canonical);
    CHECK(quantity->Value().has_value());
  }
  if (const auto time = strata::ParseTimestamp(text)) {
    const auto again = strata::ParseTimestamp(strata::FormatTimestamp(*time));
    CHECK(!again || *again == *time);
  }
  return 0;
}
