#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace strata {

// A HyperNode's regexMatch: RE2 syntax, found anywhere in the name (not anchored). Immutable, cheap
// to copy.
class NamePattern {
 public:
  // kInvalidArgument with RE2's own words when `pattern` does not compile.
  [[nodiscard]] static Result<NamePattern> Compile(std::string_view pattern);

  [[nodiscard]] const std::string& text() const;
  [[nodiscard]] bool Matches(std::string_view name) const;
  bool operator==(const NamePattern& other) const { return text() == other.text(); }

 private:
  struct Compiled;
  explicit NamePattern(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace strata
