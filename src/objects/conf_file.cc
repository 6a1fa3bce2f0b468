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

Result<Source> Unwrap(const Source& source, const Value& config_map, std::string_view key) {
  ReadLog log;
  const Cursor cursor(config_map, log);
  Labels texts;
  cursor.At("data").ReadStrings(texts);
  if (!log.error.empty()) return Fail(Code::kInvalidArgument, source.name + ": " + log.error);
  const auto it = texts.find(key);
  if (it == texts.end()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: the ConfigMap has no data key {}", source.name, key));
  }
  return Source{.name = fmt::format("{}: data[{}]", source.name, key), .text = it->second};
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
