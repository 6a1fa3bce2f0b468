#include "objects/value.h"

#include <simdjson.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "json/error.h"

namespace strata::objects {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kMaxDepth = 500;

static_assert(std::is_trivially_copyable_v<dom::element>);
static_assert(sizeof(dom::element) == sizeof(Value));
static_assert(Document::kPadding >= simdjson::SIMDJSON_PADDING);

dom::element ElementOf(const Value& value) {
  return std::bit_cast<dom::element>(value);
}
Value ValueOf(const dom::element& element) {
  return std::bit_cast<Value>(element);
}

std::string Quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kShown)) {
    quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;  // an error is one line
  }
  return quoted + (text.size() > kShown ? "...\"" : "\"");
}

}  // namespace

Value::Type Value::type() const {
  switch (ElementOf(*this).type()) {
    case dom::element_type::NULL_VALUE:
      return Type::kNull;
    case dom::element_type::BOOL:
      return Type::kBool;
    case dom::element_type::INT64:
      return Type::kInteger;
    case dom::element_type::UINT64:
    case dom::element_type::DOUBLE:
      return Type::kNumber;
    case dom::element_type::STRING:
      return Type::kString;
    case dom::element_type::ARRAY:
      return Type::kArray;
    case dom::element_type::OBJECT:
      return Type::kObject;
  }
  return Type::kNull;
}

bool Value::AsBool() const {
  return ElementOf(*this).get_bool().value_unsafe();
}
std::int64_t Value::AsInteger() const {
  return ElementOf(*this).get_int64().value_unsafe();
}
double Value::AsNumber() const {
  return ElementOf(*this).get_double().value_unsafe();
}
std::string_view Value::AsString() const {
  return ElementOf(*this).get_string().value_unsafe();
}

std::vector<Value> Value::Items() const {
  const dom::array array = ElementOf(*this).get_array().value_unsafe();
  std::vector<Value> items;
  items.reserve(array.size());
  for (const dom::element element : array) items.push_back(ValueOf(element));
  return items;
}

std::vector<Value::Member> Value::Members() const {
  const dom::object object = ElementOf(*this).get_object().value_unsafe();
  std::vector<Member> members;
  members.reserve(object.size());
  for (const dom::key_value_pair pair : object) {
    members.push_back(Member{pair.key, ValueOf(pair.value)});
  }
  return members;
}

std::optional<Value> Value::Find(std::string_view key) const {
  const dom::object object = ElementOf(*this).get_object().value_unsafe();
  dom::element found;
  if (object.at_key(key).get(found) != simdjson::SUCCESS) return std::nullopt;
  return ValueOf(found);
}

std::string Value::NumberText() const {
  const dom::element element = ElementOf(*this);
  if (element.is_int64()) return std::to_string(element.get_int64().value_unsafe());
  if (element.is_uint64()) return std::to_string(element.get_uint64().value_unsafe());
  return fmt::format("{}", element.get_double().value_unsafe());
}

std::string Value::Describe() const {
  switch (type()) {
    case Type::kNull:
      return "null";
    case Type::kBool:
      return AsBool() ? "boolean true" : "boolean false";
    case Type::kInteger:
    case Type::kNumber:
      return "number " + NumberText();
    case Type::kString:
      return "string " + Quoted(AsString());
    case Type::kArray:
      return "a list";
    case Type::kObject:
      return "an object";
  }
  return "";
}

struct Document::Impl {
  dom::parser parser;
  dom::element root;
};

Document::Document(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Value Document::root() const {
  return ValueOf(impl_->root);
}

Result<Document> Document::ParseJson(std::string_view text, Tail tail) {
  auto impl = std::make_unique<Impl>();
  simdjson::error_code error = impl->parser.allocate(text.size(), kMaxDepth);
  if (!error) {
    error = impl->parser.parse(text.data(), text.size(), tail == Tail::kNone).get(impl->root);
  }
  if (!error) return Document(std::move(impl));
  if (error == simdjson::DEPTH_ERROR) {
    return Fail(Code::kInvalidArgument, fmt::format("nested deeper than {} levels", kMaxDepth));
  }
  if (error == simdjson::CAPACITY || error == simdjson::MEMALLOC) {
    return Fail(Code::kInvalidArgument, "too large (4 GB at most)");
  }
  std::string why = DescribeJsonError(text);
  if (why.empty()) {
    why = error == simdjson::NUMBER_ERROR ? "holds a number that does not fit into 64 bits"
                                          : simdjson::error_message(error);
  }
  return Fail(Code::kInvalidArgument, std::move(why));
}

}  // namespace strata::objects
