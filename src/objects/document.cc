#include "objects/document.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "json/error.h"
#include "objects/text_check.h"
#include "objects/yaml_to_json.h"

namespace strata::objects {
namespace {

using Visit = std::function<Status(const Value&)>;

// Larger texts that start like JSON are JSON: YAML would take minutes to say what is wrong.
constexpr std::size_t kMaxFlowYaml = 1U << 20U;

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

// The values of concatenated JSON, cut where the brackets close. Only for texts that start with a
// bracket.
std::vector<std::string_view> SplitJson(std::string_view text) {
  std::vector<std::string_view> pieces;
  std::size_t start = 0;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && depth > 0 && --depth == 0) {
      pieces.push_back(text.substr(start, i + 1 - start));
      start = i + 1;
    }
  }
  const std::string_view rest = text.substr(start);
  if (rest.find_first_not_of(" \t\r\n") != std::string_view::npos) pieces.push_back(rest);
  return pieces;
}

// Whether the text goes on with "---" after a JSON value: then it is a stream of YAML, which JSON
// is a part of.
bool IsYamlStream(const std::vector<std::string_view>& pieces) {
  return std::any_of(pieces.begin(), pieces.end(), [](std::string_view piece) {
    const std::size_t begin = piece.find_first_not_of(" \t\r\n");
    return begin != std::string_view::npos && piece.substr(begin).starts_with("---");
  });
}

// Behind the string that starts at `at`.
std::size_t EndOfString(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// A number that is too large for JSON here as YAML has it: as a double, or as text where it is too
// large for that, too. Anything else as it is.
std::string FittingNumber(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, value);
  if (behind != end) return std::string(text);
  if (error != std::errc() || !std::isfinite(value)) return fmt::format("\"{}\"", text);
  const bool whole = text.find_first_of(".eE") == std::string_view::npos;
  return whole && std::fabs(value) >= 0x1p63 ? fmt::format("{}", value) : std::string(text);
}

std::string WithFittingNumbers(std::string_view text) {
  std::string fitting;
  fitting.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find_first_not_of("+-.0123456789eE", at), text.size());
    if (end > at) {
      fitting += FittingNumber(text.substr(at, end - at));
    } else {
      end = text[at] == '"' ? EndOfString(text, at) : at + 1;
      fitting += text.substr(at, end - at);
    }
    at = end;
  }
  return fitting;
}

// With numbers of any size, so that the error of one that is too large is that of its field.
Result<Document> ParseAnyNumbers(std::string_view text, Document::Tail tail) {
  Result<Document> document = Document::ParseJson(text, tail);
  if (document) return document;
  const std::string fitting = WithFittingNumbers(text);
  if (fitting == text) return document;
  Result<Document> second = Document::ParseJson(fitting);
  return second ? std::move(second) : std::move(document);
}

Status VisitYaml(std::string_view text, const Visit& visit, std::size_t& count) {
  TRY_ASSIGN(const std::vector<std::string> documents, YamlToJson(text));
  for (const std::string& json : documents) {
    TRY_ASSIGN(const Document document, Document::ParseJson(json));
    ++count;
    TRY(visit(document.root()));
  }
  return {};
}

Status VisitJson(std::string_view text,
                 Document::Tail tail,
                 const Visit& visit,
                 std::size_t& count) {
  Result<Document> whole = ParseAnyNumbers(text, tail);
  if (whole) {
    ++count;
    return visit(whole->root());
  }
  const std::vector<std::string_view> pieces = SplitJson(text);
  if (pieces.size() < 2 || IsYamlStream(pieces)) {
    return tl::unexpected<Error>(std::move(whole).error());
  }
  for (const std::string_view piece : pieces) {
    const Result<Document> document = ParseAnyNumbers(piece, Document::Tail::kNone);
    // The error of the whole text may be just that a second value follows: place this one in the
    // text.
    if (!document) {
      const auto offset = static_cast<std::size_t>(piece.data() - text.data());
      return Fail(Code::kInvalidArgument,
                  "in the value that starts at " + LineAndColumn(text, offset) + ": " +
                      document.error().message);
    }
    ++count;
    TRY(visit(document->root()));
  }
  return {};
}

}  // namespace

Result<std::size_t> ForEachDocument(std::string_view name,
                                    const std::string& text,
                                    const Visit& visit) {
  const std::string_view body = WithoutByteOrderMark(text);
  const bool padded = text.capacity() - text.size() >= Document::kPadding;
  const std::size_t first = body.find_first_not_of(" \t\r\n");
  std::size_t count = 0;
  if (first == std::string_view::npos) return count;
  const bool is_json_file = name.ends_with(".json");
  if (is_json_file || body[first] == '{' || body[first] == '[') {
    const Document::Tail tail = padded ? Document::Tail::kReadable : Document::Tail::kNone;
    // A visitor's error is final; only a text that is not JSON gets the second look.
    bool visited = false;
    const Status read = VisitJson(
        body,
        tail,
        [&](const Value& value) {
          visited = true;
          return visit(value);
        },
        count);
    if (read) return count;
    if (visited) return tl::unexpected<Error>(read.error());
    TRY(CheckText(body));
    const bool may_be_yaml = body.size() <= kMaxFlowYaml || IsYamlStream(SplitJson(body));
    if (is_json_file || !may_be_yaml) return tl::unexpected<Error>(read.error());
    count = 0;
  }
  TRY(VisitYaml(body, visit, count));
  return count;
}

}  // namespace strata::objects
