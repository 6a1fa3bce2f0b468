#include "apiserver/request/selectors.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "objects/syntax.h"

namespace strata::apiserver {
namespace {

using Requirement = Selector::Requirement;
using Operator = Selector::Operator;

// Each is looked at for every object.
constexpr std::size_t kMaxRequirements = 1000;

tl::unexpected<Error> TooManyRequirements() {
  return Fail(Code::kInvalidArgument,
              fmt::format("unable to parse requirement: more than {} of them", kMaxRequirements));
}

const std::string* Lookup(const Pairs& pairs, std::string_view key) {
  const auto at = std::lower_bound(pairs.begin(),
                                   pairs.end(),
                                   key,
                                   [](const std::pair<std::string, std::string>& pair,
                                      std::string_view wanted) { return pair.first < wanted; });
  return at != pairs.end() && at->first == key ? &at->second : nullptr;
}

std::optional<std::int64_t> Number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool Fulfils(const Requirement& requirement, const std::string* value) {
  const auto listed = [&] {
    return std::binary_search(requirement.values.begin(), requirement.values.end(), *value);
  };
  switch (requirement.op) {
    case Operator::kIn:
      return value != nullptr && listed();
    case Operator::kNotIn:
      return value == nullptr || !listed();
    case Operator::kExists:
      return value != nullptr;
    case Operator::kNotExists:
      return value == nullptr;
    case Operator::kGreater:
    case Operator::kLess: {
      const std::optional<std::int64_t> number = value == nullptr ? std::nullopt : Number(*value);
      if (!number) return false;
      return requirement.op == Operator::kGreater ? *number > requirement.bound
                                                  : *number < requirement.bound;
    }
  }
  return false;
}

// The words and signs of a label selector, one after the other.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) { Skip(); }

  [[nodiscard]] std::string_view peek() const { return token_; }
  std::string_view Take() {
    const std::string_view token = token_;
    Skip();
    return token;
  }
  bool TakeIf(std::string_view sign) {
    if (token_ != sign) return false;
    Skip();
    return true;
  }

 private:
  static constexpr std::string_view kSigns = "=!(),<>";
  static constexpr std::string_view kBlanks = " \t\r\n";

  void Skip() {
    const std::size_t begin = rest_.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) {
      rest_ = token_ = {};
      return;
    }
    rest_.remove_prefix(begin);
    std::size_t length = 1;
    if (kSigns.find(rest_.front()) == std::string_view::npos) {
      length = std::min(rest_.find_first_of("=!(),<> \t\r\n"), rest_.size());
    } else if (rest_.starts_with("==") || rest_.starts_with("!=")) {
      length = 2;
    }
    token_ = rest_.substr(0, length);
    rest_.remove_prefix(length);
  }

  std::string_view rest_;
  std::string_view token_;  // "" at the end
};

bool IsSign(std::string_view token) {
  return token.empty() || std::string_view("=!(),<>").find(token.front()) != std::string_view::npos;
}

tl::unexpected<Error> Unparsable(std::string_view found, std::string_view expected) {
  return Fail(
      Code::kInvalidArgument,
      fmt::format("unable to parse requirement: found '{}', expected: {}", found, expected));
}

Status CheckValue(std::string_view key, std::string_view value) {
  if (objects::IsLabelValue(value)) return {};
  return Fail(
      Code::kInvalidArgument,
      fmt::format(
          "unable to parse requirement: values[0][{}]: Invalid value: \"{}\": a valid label "
          "must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
          "and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
          "'my_value',  or '12345', regex used for validation is "
          "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
          key,
          value));
}

// "(a, b)" after in or notin.
Status ReadSet(Lexer& lexer, Requirement& requirement) {
  if (!lexer.TakeIf("(")) return Unparsable(lexer.peek(), "'('");
  for (;;) {
    std::string value;
    if (!IsSign(lexer.peek())) value = lexer.Take();
    TRY(CheckValue(requirement.key, value));
    requirement.values.push_back(std::move(value));
    if (lexer.TakeIf(")")) {
      std::sort(requirement.values.begin(), requirement.values.end());
      return {};
    }
    if (!lexer.TakeIf(",")) return Unparsable(lexer.peek(), "',' or ')'");
  }
}

Status ReadOperator(Lexer& lexer, Requirement& requirement) {
  const std::string_view sign = lexer.Take();
  if (sign == "in" || sign == "notin") {
    requirement.op = sign == "in" ? Operator::kIn : Operator::kNotIn;
    return ReadSet(lexer, requirement);
  }
  const bool equal = sign == "=" || sign == "==";
  if (!equal && sign != "!=" && sign != "<" && sign != ">") {
    return Unparsable(sign, "in, notin, =, ==, !=, gt, lt");
  }
  std::string value;
  if (!IsSign(lexer.peek())) value = lexer.Take();
  if (sign == "<" || sign == ">") {
    const std::optional<std::int64_t> bound = Number(value);
    if (!bound) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("unable to parse requirement: values[0][{}]: Invalid value: \"{}\": "
                              "for 'Gt', 'Lt' operators, the value must be an integer",
                              requirement.key,
                              value));
    }
    requirement.op = sign == "<" ? Operator::kLess : Operator::kGreater;
    requirement.bound = *bound;
    return {};
  }
  TRY(CheckValue(requirement.key, value));
  requirement.op = equal ? Operator::kIn : Operator::kNotIn;
  requirement.values.push_back(std::move(value));
  return {};
}

Result<Requirement> ReadRequirement(Lexer& lexer) {
  Requirement requirement;
  const bool absent = lexer.TakeIf("!");
  if (IsSign(lexer.peek())) return Unparsable(lexer.peek(), "identifier");
  requirement.key = lexer.Take();
  if (!objects::IsQualifiedName(requirement.key)) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("unable to parse requirement: key: Invalid value: \"{}\": name part must "
                    "consist of alphanumeric characters, '-', '_' or '.', and must start and end "
                    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
                    "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                    requirement.key));
  }
  if (absent) {
    requirement.op = Operator::kNotExists;
  } else if (!lexer.peek().empty() && lexer.peek() != ",") {
    TRY(ReadOperator(lexer, requirement));
  }
  return requirement;
}

// The terms of a field selector: split at commas that no backslash protects.
std::vector<std::string_view> FieldTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '\\') {
      ++i;
    } else if (i == text.size() || text[i] == ',') {
      if (i > begin) terms.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (begin < text.size()) terms.push_back(text.substr(begin));
  return terms;
}

// The text without its backslashes; none when one precedes a character that needs no escape.
std::optional<std::string> Unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (++i == text.size() || std::string_view("\\,=").find(text[i]) == std::string_view::npos) {
        return std::nullopt;
      }
    } else if (text[i] == '=') {
      return std::nullopt;
    }
    out += text[i];
  }
  return out;
}

Result<Requirement> ReadFieldTerm(std::string_view term) {
  const std::size_t sign = term.find('=');
  if (sign == std::string_view::npos || sign == 0) {
    return Fail(Code::kInvalidArgument,
                fmt::format("invalid selector: '{}'; can't understand '{}'", term, term));
  }
  Requirement requirement;
  const bool differs = term[sign - 1] == '!';
  requirement.key = term.substr(0, differs ? sign - 1 : sign);
  requirement.op = differs ? Operator::kNotIn : Operator::kIn;
  std::string_view value = term.substr(sign + 1);
  if (!differs && value.starts_with('=')) value.remove_prefix(1);
  std::optional<std::string> plain = Unescape(value);
  if (!plain) {
    return Fail(Code::kInvalidArgument,
                fmt::format("invalid field selector: invalid escape sequence or value: {}", value));
  }
  requirement.values.push_back(std::move(*plain));
  return requirement;
}

bool Selectable(const Resource& resource, std::string_view field) {
  if (field == "metadata.name" || (field == "metadata.namespace" && resource.namespaced)) {
    return true;
  }
  return std::find(resource.selectable_fields.begin(), resource.selectable_fields.end(), field) !=
         resource.selectable_fields.end();
}

const std::string* FieldOf(const StoredObject& object, std::string_view key) {
  if (key == "metadata.name") return &object.name;
  if (key == "metadata.namespace") return &object.ns;
  static const std::string empty;
  // A field that is not there compares as "".
  const std::string* value = Lookup(object.fields, key);
  return value == nullptr ? &empty : value;
}

}  // namespace

Result<std::vector<Requirement>> ParseLabelSelector(std::string_view text) {
  std::vector<Requirement> requirements;
  Lexer lexer(text);
  if (lexer.peek().empty()) return requirements;
  for (;;) {
    TRY_ASSIGN(Requirement requirement, ReadRequirement(lexer));
    requirements.push_back(std::move(requirement));
    if (requirements.size() > kMaxRequirements) return TooManyRequirements();
    if (lexer.peek().empty()) return requirements;
    if (!lexer.TakeIf(",")) return Unparsable(lexer.peek(), "',' or 'end of string'");
  }
}

bool MatchesAll(const std::vector<Requirement>& requirements, const Pairs& labels) {
  return std::all_of(requirements.begin(), requirements.end(), [&](const Requirement& requirement) {
    return Fulfils(requirement, Lookup(labels, requirement.key));
  });
}

Result<Selector> Selector::Parse(const Resource& resource,
                                 std::string_view labels,
                                 std::string_view fields) {
  Selector selector;
  TRY_ASSIGN(selector.labels_, ParseLabelSelector(labels));
  for (const std::string_view term : FieldTerms(fields)) {
    TRY_ASSIGN(Requirement requirement, ReadFieldTerm(term));
    if (!Selectable(resource, requirement.key)) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("field label not supported: {}", requirement.key));
    }
    selector.fields_.push_back(std::move(requirement));
    if (selector.fields_.size() > kMaxRequirements) return TooManyRequirements();
  }
  if (selector.fields_.size() == 1 && selector.labels_.empty() &&
      selector.fields_[0].key == "metadata.name" && selector.fields_[0].op == Operator::kIn) {
    selector.only_name_ = selector.fields_[0].values[0];
  }
  return selector;
}

bool Selector::Matches(const StoredObject& object) const {
  if (!MatchesAll(labels_, object.labels)) return false;
  return std::all_of(fields_.begin(), fields_.end(), [&](const Requirement& requirement) {
    return Fulfils(requirement, FieldOf(object, requirement.key));
  });
}

}  // namespace strata::apiserver
