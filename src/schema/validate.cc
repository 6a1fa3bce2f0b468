#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "schema/check.h"
#include "schema/go_time.h"
#include "schema/list_keys.h"
#include "schema/path.h"
#include "schema/problems.h"
#include "schema/rules.h"
#include "schema/type_words.h"

namespace strata::schema {
namespace {

// The name of a type in messages.
std::string_view WantedWord(Type type) {
  const bool is_two = type == Type::kIntOrString || type == Type::kQuantity;
  return is_two ? "integer,string" : TypeWord(type);
}

bool IsWhole(const nlohmann::json& value) {
  if (value.is_number_integer()) return true;
  if (!value.is_number_float()) return false;
  const auto number = value.get<double>();
  return std::isfinite(number) && std::trunc(number) == number && std::fabs(number) < 9.2e18;
}

bool HasType(const Schema& schema, const nlohmann::json& value) {
  switch (schema.type) {
    case Type::kAny:
      return true;
    case Type::kObject:
    case Type::kMap:
      return value.is_object();
    case Type::kArray:
      return value.is_array();
    case Type::kInteger:
      return IsWhole(value);
    case Type::kNumber:
      return value.is_number();
    case Type::kBoolean:
      return value.is_boolean();
    case Type::kIntOrString:
      return value.is_string() || IsWhole(value);
    case Type::kQuantity:
      return value.is_string() || value.is_number();
    default:
      return value.is_string();
  }
}

// A format speaks for the type, unless the value is a text or a list.
Problem WrongType(const Schema& schema, const nlohmann::json& value, std::string field) {
  std::string_view wanted = WantedWord(schema.type);
  std::string_view found = WordOf(value);
  const bool by_format =
      !schema.format.empty() && !value.is_null() && !value.is_string() && !value.is_array();
  if (by_format) {
    wanted = schema.format;
    found = value.is_number_float() ? "float64" : value.is_number() ? "int64" : "";
  }
  const std::string detail =
      fmt::format("{} in body must be of type {}: {}", field, wanted, GoQuote(found));
  return TypeInvalid(std::move(field), found, detail);
}

std::int64_t Characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return !IsUtf8Continuation(c); });
}

bool Matches(const Schema& schema, const std::string& text) {
  if (schema.compiled_pattern != nullptr) {
    return RE2::PartialMatch(text, *schema.compiled_pattern);
  }
  const RE2 pattern(schema.pattern, RE2::Quiet);
  return !pattern.ok() || RE2::PartialMatch(text, pattern);
}

class Validator {
 public:
  explicit Validator(ProblemList& problems) : problems_(problems) {}

  void Value(const Schema& schema, const nlohmann::json& value, const Path& path) {
    if (value.is_null() && (schema.nullable || schema.type == Type::kAny)) return;
    if (!HasType(schema, value)) {
      problems_.AddBy([&] { return WrongType(schema, value, path.ToString()); });
      return;
    }
    if (schema.alternatives != nullptr) Combined(*schema.alternatives, value, path);
    if (value.is_string()) Text(schema, value, path);
    if (value.is_number()) Number(schema, value, path);
    if (value.is_array()) List(schema, value, path);
    if (!schema.enum_values.empty()) Enum(schema, value, path);
    if (value.is_object()) Object(schema, value, path);
  }

 private:
  void Invalid(const Path& path, const nlohmann::json& value, std::string_view should) {
    problems_.AddBy([&] {
      std::string field = path.ToString();
      const std::string detail = fmt::format("{} in body {}", field, should);
      return InvalidValue(std::move(field), value, detail);
    });
  }

  void Text(const Schema& schema, const nlohmann::json& value, const Path& path) {
    const auto& text = value.get_ref<const std::string&>();
    if (schema.max_length && Characters(text) > *schema.max_length) {
      problems_.AddBy([&] { return TooLong(path.ToString(), *schema.max_length); });
    }
    if (schema.min_length && Characters(text) < *schema.min_length) {
      Invalid(path, value, fmt::format("should be at least {} chars long", *schema.min_length));
    }
    if (!schema.pattern.empty() && !Matches(schema, text)) {
      Invalid(path, value, fmt::format("should match '{}'", schema.pattern));
    }
    if (schema.format == "date-time" && !WhyNoTime(text, TimeLayout::kSeconds).empty()) {
      problems_.AddBy([&] {
        std::string field = path.ToString();
        const std::string detail =
            fmt::format("{} in body must be of type date-time: {}", field, ShowValue(value));
        return TypeInvalid(std::move(field), text, detail);
      });
    }
  }

  void Number(const Schema& schema, const nlohmann::json& value, const Path& path) {
    const auto number = value.get<double>();
    if (schema.type == Type::kInteger && schema.format == "int32" &&
        (number < std::numeric_limits<std::int32_t>::min() ||
         number > std::numeric_limits<std::int32_t>::max())) {
      problems_.AddBy([&] {
        const std::string detail = fmt::format(
            "Checked value must be of type integer with format int32 in {}", path.ToString());
        return InvalidValue("<nil>", "", detail);
      });
    }
    if (schema.multiple_of && *schema.multiple_of > 0 &&
        std::fmod(number, *schema.multiple_of) != 0) {
      Invalid(path, value, fmt::format("should be a multiple of {}", *schema.multiple_of));
    }
    if (schema.maximum &&
        (number > *schema.maximum || (schema.exclusive_maximum && number == *schema.maximum))) {
      const std::string_view or_equal = schema.exclusive_maximum ? "" : " or equal to";
      Invalid(path, value, fmt::format("should be less than{} {}", or_equal, *schema.maximum));
    }
    if (schema.minimum &&
        (number < *schema.minimum || (schema.exclusive_minimum && number == *schema.minimum))) {
      const std::string_view or_equal = schema.exclusive_minimum ? "" : " or equal to";
      Invalid(path, value, fmt::format("should be greater than{} {}", or_equal, *schema.minimum));
    }
  }

  void List(const Schema& schema, const nlohmann::json& value, const Path& path) {
    const auto size = static_cast<std::int64_t>(value.size());
    for (std::size_t i = 0; schema.items != nullptr && i < value.size(); ++i) {
      Value(*schema.items, value[i], path.Index(i));
    }
    if (schema.min_items && size < *schema.min_items) {
      Invalid(path, size, fmt::format("should have at least {} items", *schema.min_items));
    }
    if (schema.max_items && size > *schema.max_items) {
      problems_.AddBy([&] { return TooMany(path.ToString(), size, *schema.max_items); });
    }
  }

  void Enum(const Schema& schema, const nlohmann::json& value, const Path& path) {
    const auto& allowed = schema.enum_values;
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
    problems_.AddBy([&] { return UnsupportedValue(path.ToString(), value, allowed); });
  }

  void Object(const Schema& schema, const nlohmann::json& value, const Path& path) {
    const auto size = static_cast<std::int64_t>(value.size());
    if (schema.min_properties && size < *schema.min_properties) {
      Invalid(
          path, size, fmt::format("should have at least {} properties", *schema.min_properties));
    }
    if (schema.max_properties && size > *schema.max_properties) {
      problems_.AddBy([&] { return TooMany(path.ToString(), size, *schema.max_properties); });
    }
    for (const auto& [key, member] : value.get_ref<const nlohmann::json::object_t&>()) {
      if (const Field* field = schema.Find(key)) {
        Value(*field->schema, member, path.Key(key));
      } else if (schema.type == Type::kMap && schema.items != nullptr) {
        Value(*schema.items, member, path.Key(key));
      }
    }
    for (const Field& field : schema.fields) {
      if (field.required && !value.contains(field.name)) {
        problems_.AddBy([&] { return RequiredValue(path.Key(field.name).ToString()); });
      }
    }
  }

  static bool Fits(const Schema& schema, const nlohmann::json& value) {
    ProblemList found;
    Validator(found).Value(schema, value, Path());
    return found.empty();
  }

  void Combined(const Alternatives& wanted, const nlohmann::json& value, const Path& path) {
    const auto fits = [&](const SchemaRef& schema) { return Fits(*schema, value); };
    const auto complain = [&](std::string_view why) {
      problems_.AddBy([&] {
        const std::string detail = fmt::format("{} {}", GoQuote(path.ToString()), why);
        return InvalidValue("<nil>", "", detail);
      });
    };
    if (!wanted.any_of.empty() && std::none_of(wanted.any_of.begin(), wanted.any_of.end(), fits)) {
      complain("must validate at least one schema (anyOf)");
    }
    if (!wanted.one_of.empty()) {
      const auto count = std::count_if(wanted.one_of.begin(), wanted.one_of.end(), fits);
      if (count != 1) {
        complain(
            fmt::format("must validate one and only one schema (oneOf). Found {}",
                        count == 0 ? "none valid" : fmt::format("{} valid alternatives", count)));
      }
    }
    for (const SchemaRef& schema : wanted.all_of) Value(*schema, value, path);
    if (wanted.none_of != nullptr && fits(wanted.none_of)) {
      complain("must not validate the schema (not)");
    }
  }

  ProblemList& problems_;
};

void CheckDuplicates(const Schema& schema,
                     const nlohmann::json& list,
                     const Path& path,
                     ProblemList& problems) {
  if (schema.list_type == ListType::kAtomic) return;
  std::set<nlohmann::json> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool keyed = schema.list_type == ListType::kMap && list[i].is_object();
    nlohmann::json identity = keyed ? KeysOf(schema, list[i]) : list[i];
    if (!seen.insert(identity).second) {
      problems.AddBy([&] { return DuplicateValue(path.Index(i).ToString(), identity); });
    }
  }
}

// Calls `visit` for every value that has a schema, parents first.
template <typename Visit>
void Walk(const Schema& schema, const nlohmann::json& value, const Path& path, const Visit& visit) {
  if (value.is_null()) return;
  visit(schema, value, path);
  if (value.is_array() && schema.items != nullptr && schema.type == Type::kArray) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      Walk(*schema.items, value[i], path.Index(i), visit);
    }
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.template get_ref<const nlohmann::json::object_t&>()) {
    if (const Field* field = schema.Find(key)) {
      Walk(*field->schema, member, path.Key(key), visit);
    } else if (schema.type == Type::kMap && schema.items != nullptr) {
      Walk(*schema.items, member, path.Key(key), visit);
    }
  }
}

bool Blocks(const Problem& problem) {
  return problem.reason == "FieldValueNotSupported" || problem.reason == "FieldValueRequired" ||
         problem.reason == "FieldValueTooLong" || problem.reason == "FieldValueTooMany" ||
         problem.reason == "FieldValueTypeInvalid";
}

}  // namespace

std::vector<Problem> Validate(const Schema& schema,
                              const nlohmann::json& object,
                              const nlohmann::json* before) {
  ProblemList problems;
  Validator(problems).Value(schema, object, Path());
  Walk(
      schema, object, Path(), [&](const Schema& at, const nlohmann::json& value, const Path& path) {
        if (value.is_array()) CheckDuplicates(at, value, path, problems);
      });
  const std::vector<Problem>& found = problems.first();
  if (problems.full() || std::any_of(found.begin(), found.end(), Blocks)) {
    if (schema.may_have_rules) {
      problems.Add(InvalidValue("<nil>",
                                nullptr,
                                "some validation rules were not checked because the object "
                                "was invalid; correct the existing errors to complete "
                                "validation"));
    }
    return std::move(problems).Take();
  }
  CheckRules(schema, object, before, problems);
  return std::move(problems).Take();
}

}  // namespace strata::schema
