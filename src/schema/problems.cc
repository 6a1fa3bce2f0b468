#include "schema/problems.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "json/dump.h"

namespace strata::schema {
namespace {

constexpr std::size_t kShownValue = 1024;
constexpr std::size_t kShownMessage = 8192;

std::string Shortened(std::string text, std::size_t max) {
  if (text.size() <= max) return text;
  text.resize(CutUtf8(text, max).size());
  return text + "...";
}

Problem Make(std::string field,
             const char* reason,
             std::string_view what,
             std::string_view detail) {
  std::string message(what);
  if (!detail.empty()) message.append(": ").append(detail);
  return Problem{std::move(field), reason, Shortened(std::move(message), kShownMessage)};
}

std::string With(std::string_view what, const nlohmann::json& value) {
  return fmt::format("{}: {}", what, ShowValue(value));
}

}  // namespace

std::vector<Problem> ProblemList::Take() && {
  if (more_ > 0) {
    all_.push_back({"", "FieldValueInvalid", fmt::format("and {} more problems", more_)});
  }
  return std::move(all_);
}

std::string GoQuote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          quoted += c;
        }
    }
  }
  return quoted + '"';
}

std::string ShowValue(const nlohmann::json& value) {
  if (value.is_string()) {
    return GoQuote(Shortened(value.get_ref<const std::string&>(), kShownValue));
  }
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return Shortened(DumpJson(value), kShownValue);
}

Problem RequiredValue(std::string field, std::string_view detail) {
  return Make(std::move(field), "FieldValueRequired", "Required value", detail);
}

Problem InvalidValue(std::string field, const nlohmann::json& value, std::string_view detail) {
  return Make(std::move(field), "FieldValueInvalid", With("Invalid value", value), detail);
}

Problem InvalidValueOmitted(std::string field, std::string_view detail) {
  return Make(std::move(field), "FieldValueInvalid", "Invalid value", detail);
}

Problem TypeInvalid(std::string field, std::string_view found, std::string_view detail) {
  return Make(std::move(field),
              "FieldValueTypeInvalid",
              fmt::format("Invalid value: {}", GoQuote(found)),
              detail);
}

Problem UnsupportedValue(std::string field,
                         const nlohmann::json& value,
                         const std::vector<nlohmann::json>& supported) {
  std::string detail = "supported values: ";
  for (std::size_t i = 0; i < supported.size(); ++i) {
    if (i > 0) detail += ", ";
    detail += supported[i].is_string() ? ShowValue(supported[i]) : GoQuote(DumpJson(supported[i]));
  }
  return Make(std::move(field), "FieldValueNotSupported", With("Unsupported value", value), detail);
}

Problem DuplicateValue(std::string field, const nlohmann::json& value) {
  return Make(std::move(field), "FieldValueDuplicate", With("Duplicate value", value), "");
}

Problem TooLong(std::string field, std::int64_t max) {
  return Make(std::move(field),
              "FieldValueTooLong",
              "Too long",
              fmt::format("may not be more than {} {}", max, max == 1 ? "byte" : "bytes"));
}

Problem TooMany(std::string field, std::int64_t found, std::int64_t max) {
  return Make(std::move(field),
              "FieldValueTooMany",
              fmt::format("Too many: {}", found),
              fmt::format("must have at most {} {}", max, max == 1 ? "item" : "items"));
}

Problem ForbiddenField(std::string field, std::string_view detail) {
  return Make(std::move(field), "FieldValueForbidden", "Forbidden", detail);
}

}  // namespace strata::schema
