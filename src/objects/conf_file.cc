#include "objects/conf_file.h"

#include <utility>

#include <fmt/format.h>

#include "objects/cursor.h"
#include "objects/yaml_to_json.h"

namespace strata::objects {
namespace {

Result<std::optional<Document>> ParseOne(const Source& source, std::string_view what) {
  auto texts = YamlToJson(source.text);
  if (!texts) return tl::unexpected(Error(texts.error()).Context(source.name));
  if (texts->empty()) return std::nullopt;
  if (texts->size() != 1) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("{}: found {} documents, want one {}", source.name, texts->size(), what));
  }
  auto document = Document::ParseJson(texts->front());
  if (!document) return tl::unexpected(Error(document.error()).Context(source.name));
  return std::move(*document);
}

bool IsConfigMap(const Value& root) {
  if (root.type() != Value::Type::kObject) return false;
  const auto kind = root.Find("kind");
  return kind && kind->type() == Value::Type::kString && kind->AsString() == "ConfigMap";
}

// The key under which the file stands: Volcano's chart names it after the file that it was given.
// "" when there is none, or more than one could be meant.
std::string KeyIn(const Labels& texts, std::string_view key) {
  if (texts.find(key) != texts.end()) return std::string(key);
  std::string only;
  for (const auto& [name, text] : texts) {
    if (!name.ends_with(".conf")) continue;
    if (!only.empty()) return "";
    only = name;
  }
  return only;
}

Result<Source> Unwrap(const Source& source, const Value& config_map, std::string_view key) {
  ReadLog log;
  const Cursor cursor(config_map, log);
  Labels texts;
  cursor.At("data").ReadStrings(texts);
  if (!log.error.empty()) return Fail(Code::kInvalidArgument, source.name + ": " + log.error);
  const std::string found = KeyIn(texts, key);
  if (found.empty()) {
    return Fail(
        Code::kInvalidArgument,
        fmt::format(
            "{}: the ConfigMap has neither a data key {} nor one other *.conf", source.name, key));
  }
  return Source{.name = fmt::format("{}: data[{}]", source.name, found), .text = texts.at(found)};
}

}  // namespace

Result<ConfFile> ParseConfFile(const Source& source, std::string_view key, std::string_view what) {
  ConfFile file{.name = source.name, .document = std::nullopt};
  TRY_ASSIGN(file.document, ParseOne(source, what));
  if (!file.document || !IsConfigMap(file.document->root())) return file;
  TRY_ASSIGN(const Source inner, Unwrap(source, file.document->root(), key));
  file.name = inner.name;
  TRY_ASSIGN(file.document, ParseOne(inner, what));
  return file;
}

}  // namespace strata::objects
