#include "admission/problems.h"

#include <nlohmann/json.hpp>

#include "schema/problems.h"

namespace strata::admission {

using nlohmann::json;

void Problems::Required(std::string field, std::string_view detail) {
  if (!Wanted()) return;
  all_.push_back(schema::RequiredValue(std::move(field), detail));
}

void Problems::Invalid(std::string field, const json& value, std::string_view detail) {
  if (!Wanted()) return;
  all_.push_back(schema::InvalidValue(std::move(field), value, detail));
}

void Problems::NotSupported(std::string field,
                            std::string_view value,
                            std::initializer_list<std::string_view> supported) {
  if (!Wanted()) return;
  all_.push_back(
      schema::UnsupportedValue(std::move(field), value, {supported.begin(), supported.end()}));
}

void Problems::Duplicate(std::string field, const json& value) {
  if (!Wanted()) return;
  all_.push_back(schema::DuplicateValue(std::move(field), value));
}

void Problems::NotFound(std::string field, const json& value) {
  if (!Wanted()) return;
  all_.push_back(
      {std::move(field), "FieldValueNotFound", "Not found: " + schema::ShowValue(value)});
}

void Problems::Forbidden(std::string field, std::string_view detail) {
  if (!Wanted()) return;
  all_.push_back(schema::ForbiddenField(std::move(field), detail));
}

void Problems::TooLong(std::string field, std::int64_t max) {
  if (!Wanted()) return;
  all_.push_back(schema::TooLong(std::move(field), max));
}

void Problems::Immutable(std::string field, const json& value) {
  Invalid(std::move(field), value, "field is immutable");
}

}  // namespace strata::admission
