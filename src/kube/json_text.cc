#include "kube/json_text.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "objects/value.h"

namespace strata::kube {
namespace {

namespace ondemand = simdjson::ondemand;
using objects::Document;
using objects::Value;

std::optional<Value> ObjectAt(const Value& object, std::string_view key) {
  const auto found = object.Find(key);
  return found && found->type() == Value::Type::kObject ? found : std::nullopt;
}

std::string StringAt(const Value& object, std::string_view key) {
  const auto found = object.Find(key);
  return found && found->type() == Value::Type::kString ? std::string(found->AsString()) : "";
}

constexpr std::string_view kListEnding = "List";

// What can stand between quotes as it is.
bool IsPlainName(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '.' || c == '/' ||
           c == '-';
  });
}

tl::unexpected<Error> Bad(simdjson::error_code error) {
  return Fail(Code::kInvalidArgument, simdjson::error_message(error));
}

// simdjson reads a little beyond the end.
simdjson::padded_string_view Padded(std::string& text) {
  text.reserve(text.size() + simdjson::SIMDJSON_PADDING);
  return simdjson::padded_string_view(text.data(), text.size(), text.capacity());
}

simdjson::error_code ReadString(ondemand::value value, std::string& out) {
  std::string_view text;
  const simdjson::error_code error = value.get_string().get(text);
  if (!error) out = text;
  return error;
}

simdjson::error_code RawObject(ondemand::value value, std::string_view& out) {
  ondemand::object object;
  if (const auto error = value.get_object().get(object)) return error;
  return object.raw_json().get(out);
}

// Calls `read(key, value)` for each member, until one fails.
template <typename Read>
simdjson::error_code ForEachField(ondemand::object object, const Read& read) {
  for (auto member : object) {
    ondemand::field field;
    std::string_view key;
    if (const auto error = std::move(member).get(field)) return error;
    if (const auto error = field.unescaped_key().get(key)) return error;
    if (const auto error = read(key, field.value())) return error;
  }
  return simdjson::SUCCESS;
}

simdjson::error_code ReadListMeta(ondemand::value value, ListPage& page) {
  ondemand::object meta;
  if (const auto error = value.get_object().get(meta)) return error;
  return ForEachField(meta, [&page](std::string_view key, ondemand::value member) {
    if (key == "resourceVersion") return ReadString(member, page.version);
    if (key == "continue") return ReadString(member, page.next);
    return simdjson::SUCCESS;
  });
}

simdjson::error_code ReadItems(ondemand::value value, ListPage& page) {
  ondemand::array items;
  bool null = false;
  if (const auto error = value.is_null().get(null)) return error;
  if (null) return simdjson::SUCCESS;
  if (const auto error = value.get_array().get(items)) return error;
  for (auto item : items) {
    ondemand::value element;
    std::string_view text;
    // NOLINTNEXTLINE(performance-move-const-arg): get() is for rvalues only
    if (const auto error = std::move(item).get(element)) return error;
    if (const auto error = RawObject(element, text)) return error;
    page.items.push_back(text);
  }
  return simdjson::SUCCESS;
}

// Names and version of an object, whatever else it holds: nothing here recurses.
simdjson::error_code ReadNames(ondemand::value value, ObjectHead& head) {
  ondemand::object meta;
  if (const auto error = value.get_object().get(meta)) return error;
  return ForEachField(meta, [&head](std::string_view key, ondemand::value member) {
    if (key == "namespace") return ReadString(member, head.key.ns);
    if (key == "name") return ReadString(member, head.key.name);
    if (key == "uid") return ReadString(member, head.uid);
    if (key == "resourceVersion") return ReadString(member, head.version);
    return simdjson::SUCCESS;
  });
}

// Calls `read` for each member of the object that `text` is.
template <typename Read>
simdjson::error_code ForEachMember(std::string& text, const Read& read) {
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object object;
  if (const auto error = parser.iterate(Padded(text)).get(document)) return error;
  if (const auto error = document.get_object().get(object)) return error;
  if (const auto error = ForEachField(object, read)) return error;
  const char* rest = nullptr;
  const bool at_end = document.current_location().get(rest) == simdjson::OUT_OF_BOUNDS;
  return at_end ? simdjson::SUCCESS : simdjson::TRAILING_CONTENT;
}

tl::unexpected<Error> NoVersion() {
  return Fail(Code::kInvalidArgument, "metadata.resourceVersion: want a string");
}

Result<ObjectHead> ReadUnreadable(std::string text, const std::string& why) {
  ObjectHead head;
  head.unreadable = why;
  const auto error = ForEachMember(text, [&head](std::string_view key, ondemand::value value) {
    return key == "metadata" ? ReadNames(value, head) : simdjson::SUCCESS;
  });
  if (error) return Bad(error);
  if (head.version.empty()) return NoVersion();
  return head;
}

}  // namespace

Result<ObjectHead> ReadHead(std::string_view object) {
  Result<Document> parsed = Document::ParseJson(object);
  if (!parsed) {
    if (!nlohmann::json::accept(object)) return tl::unexpected(std::move(parsed).error());
    return ReadUnreadable(std::string(object), parsed.error().message);
  }
  const Document document = *std::move(parsed);
  if (document.root().type() != Value::Type::kObject) {
    return Fail(Code::kInvalidArgument, "want an object, not " + document.root().Describe());
  }
  const auto meta = ObjectAt(document.root(), "metadata");
  if (!meta) return Fail(Code::kInvalidArgument, "metadata: want an object");
  ObjectHead head;
  head.key = {StringAt(*meta, "namespace"), StringAt(*meta, "name")};
  head.has_kind = document.root().Find("kind").has_value();
  head.uid = StringAt(*meta, "uid");
  head.version = StringAt(*meta, "resourceVersion");
  if (head.version.empty()) return NoVersion();
  if (const auto annotations = ObjectAt(*meta, "annotations")) {
    head.ends_initial_events = StringAt(*annotations, "k8s.io/initial-events-end") == "true";
  }
  return head;
}

Result<WatchLine> CutWatchLine(std::string& line) {
  WatchLine cut;
  const auto error = ForEachMember(line, [&cut](std::string_view key, ondemand::value value) {
    if (key == "type") return ReadString(value, cut.type);
    if (key == "object") return RawObject(value, cut.object);
    return simdjson::SUCCESS;
  });
  if (error) return Bad(error);
  if (cut.type.empty() || cut.object.empty()) {
    return Fail(Code::kInvalidArgument, "want a watch event with type and object");
  }
  return cut;
}

Result<ListPage> CutList(std::string& body) {
  ListPage page;
  const auto error = ForEachMember(body, [&page](std::string_view key, ondemand::value value) {
    if (key == "kind") return ReadString(value, page.kind);
    if (key == "apiVersion") return ReadString(value, page.api_version);
    if (key == "metadata") return ReadListMeta(value, page);
    if (key == "items") return ReadItems(value, page);
    return simdjson::SUCCESS;
  });
  if (error) return Bad(error);
  const bool named =
      page.kind.ends_with(kListEnding) && IsPlainName(page.kind) && IsPlainName(page.api_version);
  if (!named || page.version.empty()) {
    return Fail(Code::kInvalidArgument, "want a list with kind and metadata.resourceVersion");
  }
  return page;
}

std::string ItemText(std::string_view item, const ObjectHead& head, const ListPage& page) {
  if (head.has_kind) return std::string(item);
  std::string text = "{\"kind\":\"" + page.kind.substr(0, page.kind.size() - kListEnding.size()) +
                     "\",\"apiVersion\":\"" + page.api_version + "\",";
  return text += item.substr(1);  // an object with a head is not empty
}

}  // namespace strata::kube
