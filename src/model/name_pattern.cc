#include "model/name_pattern.h"

#include <re2/re2.h>

namespace strata {
namespace {

re2::StringPiece Piece(std::string_view text) {
  return {text.data(), text.size()};
}

RE2::Options QuietOptions() {
  RE2::Options options;
  options.set_log_errors(false);  // a bad pattern is the caller's to report
  return options;
}

}  // namespace

struct NamePattern::Compiled {
  explicit Compiled(std::string_view pattern)
      : text(pattern), regex(Piece(pattern), QuietOptions()) {}

  std::string text;
  RE2 regex;
};

Result<NamePattern> NamePattern::Compile(std::string_view pattern) {
  auto compiled = std::make_shared<const Compiled>(pattern);
  if (!compiled->regex.ok()) return Fail(Code::kInvalidArgument, compiled->regex.error());
  return NamePattern(std::move(compiled));
}

const std::string& NamePattern::text() const {
  return compiled_->text;
}

bool NamePattern::Matches(std::string_view name) const {
  return RE2::PartialMatch(Piece(name), compiled_->regex);
}

}  // namespace strata
