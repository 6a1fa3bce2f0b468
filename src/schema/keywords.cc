#include "schema/keywords.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/result.h"
#include "cel/expression.h"
#include "json/access.h"

namespace strata::schema {

using nlohmann::json;

std::string KeywordReader::Text(std::string_view key) {
  const auto found = source_.find(key);
  if (found == source_.end()) return "";
  if (found->is_string()) return found->get<std::string>();
  problems_.Add(InvalidValue(fmt::format("{}.{}", at_, key), *found, "must be a string"));
  return "";
}

std::optional<std::int64_t> KeywordReader::Count(std::string_view key) {
  const auto found = source_.find(key);
  if (found == source_.end()) return std::nullopt;
  if (found->is_number_integer() && *found >= 0 &&
      *found <= std::numeric_limits<std::int64_t>::max()) {
    return found->get<std::int64_t>();
  }
  problems_.Add(
      InvalidValue(fmt::format("{}.{}", at_, key), *found, "must be a whole number, at least 0"));
  return std::nullopt;
}

std::optional<double> KeywordReader::Number(std::string_view key) {
  const auto found = source_.find(key);
  if (found == source_.end()) return std::nullopt;
  if (found->is_number()) return found->get<double>();
  problems_.Add(InvalidValue(fmt::format("{}.{}", at_, key), *found, "must be a number"));
  return std::nullopt;
}

void KeywordReader::ReadListType(Schema& schema) {
  const std::string type = Text("x-kubernetes-list-type");
  const std::string field = at_ + ".x-kubernetes-list-type";
  if (!type.empty() && schema.type != Type::kArray) {
    problems_.Add(InvalidValue(at_ + ".type",
                               TextAt(source_, {"type"}),
                               "must be array if x-kubernetes-list-type is specified"));
  }
  if (type == "set") {
    schema.list_type = ListType::kSet;
  } else if (type == "map") {
    schema.list_type = ListType::kMap;
  } else if (!type.empty() && type != "atomic") {
    problems_.Add(UnsupportedValue(field, type, {"atomic", "set", "map"}));
  }
  const auto keys = source_.find("x-kubernetes-list-map-keys");
  if (keys == source_.end()) return;
  if (type != "map") {
    problems_.Add(
        InvalidValue(field, type, "must be map if x-kubernetes-list-map-keys is non-empty"));
  }
  for (const json& key : *keys) {
    if (key.is_string()) schema.list_map_keys.push_back(key.get<std::string>());
  }
}

void KeywordReader::ReadMapType(Schema& schema) {
  const std::string type = Text("x-kubernetes-map-type");
  schema.atomic = type == "atomic";
  if (!type.empty() && type != "atomic" && type != "granular") {
    problems_.Add(UnsupportedValue(at_ + ".x-kubernetes-map-type", type, {"atomic", "granular"}));
  }
}

void KeywordReader::ReadRules(Schema& schema) {
  const auto rules = source_.find("x-kubernetes-validations");
  if (rules == source_.end() || !rules->is_array()) return;
  for (std::size_t i = 0; i < rules->size(); ++i) {
    const json& source = (*rules)[i];
    const std::string field = fmt::format("{}.x-kubernetes-validations[{}]", at_, i);
    Rule rule;
    if (source.is_object()) {
      rule.rule = TextAt(source, {"rule"});
      rule.message = TextAt(source, {"message"});
      rule.reason = TextAt(source, {"reason"});
      rule.field_path = TextAt(source, {"fieldPath"});
    }
    if (rule.rule.find_first_not_of(" \t\n") == std::string::npos) {
      problems_.Add(RequiredValue(field + ".rule", "rule is not specified"));
    } else if (rule.message.empty() && rule.rule.find('\n') != std::string::npos) {
      problems_.Add(RequiredValue(field + ".message",
                                  "message must be specified if rule contains line breaks"));
    }
    Result<cel::Expression> expression = cel::Expression::Parse(rule.rule);
    if (!expression) {
      rule.unsupported = std::move(expression).error().message;
    } else if (BoolAt(source, {"optionalOldSelf"})) {
      rule.unsupported = "optionalOldSelf is not supported";
    } else {
      rule.expression = std::make_shared<const cel::Expression>(std::move(*expression));
    }
    schema.rules.push_back(std::move(rule));
  }
}

void KeywordReader::Read(Schema& schema) {
  schema.description = Text("description");
  schema.format = Text("format");
  schema.pattern = Text("pattern");
  schema.nullable = BoolAt(source_, {"nullable"});
  schema.minimum = Number("minimum");
  schema.maximum = Number("maximum");
  schema.exclusive_minimum = BoolAt(source_, {"exclusiveMinimum"});
  schema.exclusive_maximum = BoolAt(source_, {"exclusiveMaximum"});
  schema.multiple_of = Number("multipleOf");
  schema.min_length = Count("minLength");
  schema.max_length = Count("maxLength");
  schema.min_items = Count("minItems");
  schema.max_items = Count("maxItems");
  schema.min_properties = Count("minProperties");
  schema.max_properties = Count("maxProperties");
  if (const auto value = source_.find("default"); value != source_.end()) {
    schema.default_value = *value;
  }
  if (const auto values = source_.find("enum"); values != source_.end()) {
    if (values->is_array()) {
      schema.enum_values.assign(values->begin(), values->end());
    } else {
      problems_.Add(InvalidValue(at_ + ".enum", *values, "must be a list"));
    }
  }
  ReadListType(schema);
  ReadMapType(schema);
  ReadRules(schema);
}

}  // namespace strata::schema
