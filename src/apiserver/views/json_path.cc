#include "apiserver/views/json_path.h"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::apiserver {

using nlohmann::json;

class JsonPath::Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<std::vector<Step>> Run() {
    std::vector<Step> steps;
    while (!rest_.empty()) {
      if (rest_.front() == '.') {
        rest_.remove_prefix(1);
        if (rest_.empty()) break;  // "." is the whole object
        if (rest_.front() == '[') continue;
        if (rest_.front() == '*') {
          rest_.remove_prefix(1);
          steps.emplace_back(All{});
          continue;
        }
        TRY_ASSIGN(std::string name, Name());
        steps.emplace_back(std::move(name));
      } else if (rest_.front() == '[') {
        TRY_ASSIGN(Step step, Bracket());
        steps.push_back(std::move(step));
      } else if (steps.empty()) {
        TRY_ASSIGN(std::string name, Name());
        steps.emplace_back(std::move(name));
      } else {
        return Bad("want '.' or '['");
      }
    }
    return steps;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> Bad(std::string_view why) const {
    return Fail(Code::kInvalidArgument,
                fmt::format("bad JSONPath at \"{}\": {}", rest_.substr(0, 40), why));
  }

  // Letters up to the next step; a backslash takes the next character as it is.
  Result<std::string> Name() {
    std::string name;
    while (!rest_.empty() && rest_.front() != '.' && rest_.front() != '[') {
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      name += rest_.front();
      rest_.remove_prefix(1);
    }
    if (name.empty()) return Bad("want a name");
    return name;
  }

  // The end of the bracket that rest_ begins with; quotes hide brackets.
  [[nodiscard]] std::size_t BracketEnd() const {
    char quote = 0;
    int depth = 0;
    for (std::size_t at = 0; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (c == '\'' || c == '"') {
        quote = c;
      } else if (c == '[') {
        ++depth;
      } else if (c == ']' && --depth == 0) {
        return at;
      }
    }
    return std::string_view::npos;
  }

  Result<Step> Bracket() {
    const std::size_t end = BracketEnd();
    if (end == std::string_view::npos) return Bad("']' is missing");
    const std::string_view inside = Trim(rest_.substr(1, end - 1));
    TRY_ASSIGN(Step step, Inside(inside));
    rest_.remove_prefix(end + 1);
    return step;
  }

  [[nodiscard]] Result<Step> Inside(std::string_view inside) const {
    if (inside == "*") return Step(All{});
    const bool quoted = inside.size() >= 2 && (inside.front() == '\'' || inside.front() == '"') &&
                        inside.back() == inside.front();
    if (quoted) return Step(std::string(inside.substr(1, inside.size() - 2)));
    if (inside.starts_with("?(") && inside.ends_with(')')) {
      return ToFilter(Trim(inside.substr(2, inside.size() - 3)));
    }
    const bool negative = inside.starts_with('-');
    const auto index = WholeNumber(inside.substr(negative ? 1 : 0), INT32_MAX);
    if (!index) return Bad("want an index, '*', a quoted name or a filter");
    return Step(negative ? -*index : *index);
  }

  [[nodiscard]] Result<Step> ToFilter(std::string_view text) const {
    if (!text.starts_with('@')) return Bad("a filter begins with '@'");
    constexpr std::array<std::string_view, 6> kOps = {"==", "!=", "<=", ">=", "<", ">"};
    Filter filter;
    std::string_view path = text.substr(1);
    for (const std::string_view op : kOps) {
      const std::size_t at = text.find(op);
      if (at == std::string_view::npos) continue;
      filter.op = op;
      path = Trim(text.substr(1, at - 1));
      filter.literal = std::string(Trim(text.substr(at + op.size())));
      break;
    }
    std::string& literal = filter.literal;
    if (literal.size() >= 2 && literal.front() == '\'' && literal.back() == '\'') {
      literal = DumpJson(literal.substr(1, literal.size() - 2));
    }
    if (!filter.op.empty() && !json::accept(literal)) return Bad("want a literal");
    TRY_ASSIGN(const std::vector<Step> steps, Parser(path).Run());
    for (const Step& step : steps) {
      const std::string* name = std::get_if<std::string>(&step);
      if (name == nullptr) return Bad("want names in a filter");
      filter.path.push_back(*name);
    }
    return Step(std::move(filter));
  }

  std::string_view rest_;
};

Result<JsonPath> JsonPath::Parse(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('{') && text.ends_with('}')) text = text.substr(1, text.size() - 2);
  if (text.starts_with('$')) text.remove_prefix(1);
  JsonPath path;
  TRY_ASSIGN(path.steps_, Parser(text).Run());
  return path;
}

bool JsonPath::Passes(const Filter& filter, const json& element) {
  const json* at = &element;
  for (const std::string& name : filter.path) {
    if (!at->is_object()) return false;
    const auto member = at->find(name);
    if (member == at->end()) return false;
    at = &*member;
  }
  if (filter.op.empty()) return true;
  const json literal = ParseJsonOrNull(filter.literal);
  if (filter.op == "==") return *at == literal;
  if (filter.op == "!=") return *at != literal;
  const bool comparable =
      (at->is_number() && literal.is_number()) || (at->is_string() && literal.is_string());
  if (!comparable) return false;
  if (filter.op == "<") return *at < literal;
  if (filter.op == "<=") return *at <= literal;
  if (filter.op == ">") return *at > literal;
  return *at >= literal;
}

void JsonPath::Take(const Step& step, const json& from, std::vector<const json*>& out) {
  if (const auto* name = std::get_if<std::string>(&step)) {
    if (!from.is_object()) return;
    const auto member = from.find(*name);
    if (member != from.end()) out.push_back(&*member);
    return;
  }
  if (const auto* index = std::get_if<std::int64_t>(&step)) {
    if (!from.is_array()) return;
    const auto size = static_cast<std::int64_t>(from.size());
    const std::int64_t place = *index < 0 ? size + *index : *index;
    if (place >= 0 && place < size) out.push_back(&from[static_cast<std::size_t>(place)]);
    return;
  }
  if (!from.is_structured()) return;
  const auto* filter = std::get_if<Filter>(&step);
  for (const json& element : from) {
    if (filter == nullptr || Passes(*filter, element)) out.push_back(&element);
  }
}

std::vector<const json*> JsonPath::Find(const json& object) const {
  std::vector<const json*> found = {&object};
  for (const Step& step : steps_) {
    std::vector<const json*> next;
    for (const json* from : found) Take(step, *from, next);
    found = std::move(next);
  }
  return found;
}

}  // namespace strata::apiserver
