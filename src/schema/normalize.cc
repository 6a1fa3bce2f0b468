#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/quantity.h"
#include "base/timestamp.h"
#include "json/dump.h"
#include "schema/check.h"

namespace strata::schema {
namespace {

// Lists of resources have thousandths as their finest part.
enum class Finest : std::uint8_t { kAny, kMilli };

bool IsExponent(std::string_view text) {
  const std::size_t at = text.find_first_of("eE");
  return at != std::string_view::npos && at + 1 < text.size() && text[at + 1] != 'i';
}

// "129M" as "129e6".
std::string ToExponent(std::string text) {
  constexpr std::string_view kSuffixes = "num kMGTPE";
  const std::size_t place = kSuffixes.find(text.back());
  if (place == std::string_view::npos) return text;
  text.pop_back();
  return text + "e" + std::to_string(3 * (static_cast<int>(place) - 3));
}

// What is left of a binary quantity once no suffix of its family fits is written as a decimal one,
// so that reading it again changes nothing.
std::string WriteBinary(const Quantity& quantity) {
  const Quantity kibi = Quantity::FromValue(1024);
  const Result<std::int64_t> whole = quantity.Value();
  const bool small = quantity < kibi && Quantity() - kibi < quantity;
  if (!whole || (small && !quantity.IsInteger())) return quantity.ToString();
  if (small || *whole % 1024 != 0) return Quantity::FromValue(*whole).ToString();
  const Result<Quantity> rounded = Quantity::Parse(std::to_string(*whole / 1024) + "Ki");
  return rounded ? rounded->ToString() : quantity.ToString();
}

std::optional<std::string> NormalQuantity(std::string_view text, Finest finest) {
  Result<Quantity> quantity = Quantity::Parse(text);
  if (!quantity) return std::nullopt;
  if (finest == Finest::kMilli && !quantity->IsInteger()) {
    const Result<std::int64_t> milli = quantity->Milli();
    if (milli && *quantity != Quantity::FromMilli(*milli)) quantity = Quantity::FromMilli(*milli);
  }
  if (text.ends_with('i')) return WriteBinary(*quantity);
  return IsExponent(text) ? ToExponent(quantity->ToString()) : quantity->ToString();
}

void NormalizeQuantity(nlohmann::json& value, Finest finest) {
  std::optional<std::string> text;
  if (const auto* given = value.get_ptr<const std::string*>()) {
    text = NormalQuantity(*given, finest);
  } else if (value.is_number()) {
    text = NormalQuantity(DumpJson(value), finest);
  }
  if (text) value = std::move(*text);
}

// "2026-08-20T10:00:00" of a text with any fraction and offset, and the digits of the fraction.
struct UtcTime {
  std::string seconds;
  std::string_view fraction;
};

std::optional<UtcTime> ReadTime(std::string_view text) {
  const Result<Time> time = ParseTimestamp(text);
  if (!time) return std::nullopt;
  UtcTime utc;
  utc.seconds = FormatTimestamp(std::chrono::floor<std::chrono::seconds>(*time));
  utc.seconds.pop_back();  // Z
  if (const std::size_t dot = text.find_first_of(".,"); dot != std::string_view::npos) {
    std::size_t end = dot + 1;
    while (end < text.size() && IsDigit(text[end])) ++end;
    utc.fraction = text.substr(dot + 1, end - dot - 1);
  }
  return utc;
}

void NormalizeTime(nlohmann::json& value, Type type) {
  const auto* text = value.get_ptr<const std::string*>();
  constexpr std::size_t kMicroDigits = 6;
  constexpr std::size_t kSecondsLength = 20;  // 2026-08-20T10:00:00Z
  const std::size_t length =
      type == Type::kTime ? kSecondsLength : kSecondsLength + kMicroDigits + 1;
  if (text == nullptr || (text->size() == length && text->back() == 'Z')) return;
  const std::optional<UtcTime> utc = ReadTime(*text);
  if (!utc) return;
  std::string normal = utc->seconds;
  if (type == Type::kMicroTime) {
    std::string fraction(utc->fraction.substr(0, kMicroDigits));
    fraction.resize(kMicroDigits, '0');
    normal += "." + fraction;
  }
  value = normal + "Z";
}

void NormalizeValue(const Schema& schema, nlohmann::json& value, Finest finest) {
  if (!schema.may_normalize || schema.as_sent) return;
  if (schema.type == Type::kQuantity) return NormalizeQuantity(value, finest);
  if (schema.type == Type::kTime || schema.type == Type::kMicroTime) {
    return NormalizeTime(value, schema.type);
  }
  if (auto* list = value.get_ptr<nlohmann::json::array_t*>()) {
    if (schema.type != Type::kArray || schema.items == nullptr) return;
    for (nlohmann::json& item : *list) NormalizeValue(*schema.items, item, Finest::kAny);
    return;
  }
  auto* members = value.get_ptr<nlohmann::json::object_t*>();
  if (members == nullptr) return;
  const Finest inner = schema.go_name == "v1.ResourceList" ? Finest::kMilli : Finest::kAny;
  for (auto& [key, member] : *members) {
    if (const Field* field = schema.Find(key)) {
      NormalizeValue(*field->schema, member, Finest::kAny);
    } else if (schema.type == Type::kMap && schema.items != nullptr) {
      NormalizeValue(*schema.items, member, inner);
    }
  }
}

}  // namespace

void Normalize(const Schema& schema, nlohmann::json& object) {
  NormalizeValue(schema, object, Finest::kAny);
}

}  // namespace strata::schema
