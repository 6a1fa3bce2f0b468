#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apiserver/views/age.h"
#include "apiserver/views/columns.h"
#include "apiserver/views/json_path.h"
#include "apiserver/views/views.h"
#include "json/access.h"
#include "json/dump.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

constexpr std::string_view kNameDescription =
    "Name must be unique within a namespace. Is required when creating resources, although some "
    "resources may allow a client to request the generation of an appropriate name automatically. "
    "Name is primarily intended for creation idempotence and configuration definition. Cannot be "
    "updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";

const KindColumns* BuiltInColumns(const Resource& resource) {
  static const std::vector<KindColumns> every = [] {
    std::vector<KindColumns> all = CoreColumns();
    for (KindColumns& more : StorageColumns()) all.push_back(std::move(more));
    return all;
  }();
  if (resource.custom) return nullptr;
  for (const KindColumns& columns : every) {
    if (columns.kind == resource.kind && columns.group == resource.group) return &columns;
  }
  return nullptr;
}

json ToDefinition(const Column& column) {
  return {{"name", column.name},
          {"type", column.type},
          {"format", column.format},
          {"description", column.description},
          {"priority", column.priority}};
}

Column NameColumn() {
  return {"Name", "string", "name", std::string(kNameDescription), 0, ".metadata.name"};
}

// A custom kind's row has all of its columns; what has none shows its name and age.
const std::vector<Column>& ColumnsOf(const Resource& resource) {
  static const std::vector<Column> plain = {
      NameColumn(), {"Age", "date", "", "", 0, ".metadata.creationTimestamp"}};
  return resource.columns.empty() ? plain : resource.columns;
}

// As JSONPath prints a value: strings bare, the rest as JSON.
json PrintedText(const json& value) {
  return value.is_string() ? value.get<std::string>() : DumpJson(value);
}

// null when no integer can hold it.
json WholePart(double number) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(number >= -kLimit && number < kLimit)) return nullptr;
  return static_cast<std::int64_t>(number);
}

json ToCell(const std::string& type, const json& value, Time now) {
  if (type == "string") return PrintedText(value);
  if (type == "integer") {
    if (value.is_number_integer()) return value;
    return value.is_number_float() ? WholePart(value.get<double>()) : json(nullptr);
  }
  if (type == "number") return value.is_number() ? value : json(nullptr);
  if (type == "boolean") return value.is_boolean() ? value : json(nullptr);
  if (type == "date") return value.is_string() ? json(AgeOf(&value, now)) : json(nullptr);
  return nullptr;
}

json CustomCell(const Column& column, const json& object, Time now) {
  const auto path = JsonPath::Parse(column.json_path);
  if (!path) return nullptr;
  const std::vector<const json*> found = path->Find(object);
  if (found.empty() || found.front()->is_null()) return nullptr;
  return ToCell(column.type, *found.front(), now);
}

}  // namespace

std::vector<Column> NameAnd(std::initializer_list<std::string_view> names) {
  std::vector<Column> columns = {NameColumn()};
  for (std::string_view name : names) {
    Column& column = columns.emplace_back();
    column.type = "string";
    if (name.ends_with('+')) column.priority = 1;
    if (name.ends_with('#')) column.type = "integer";
    if (name.ends_with('+') || name.ends_with('#')) name.remove_suffix(1);
    column.name = name;
  }
  return columns;
}

std::string NameOf(const json& object) {
  return TextAt(object, {"metadata", "name"});
}

std::string ObjectAge(const json& object, Time now) {
  return AgeOf(FindAt(object, {"metadata", "creationTimestamp"}), now);
}

std::string OrNone(std::string_view text) {
  return std::string(text.empty() ? "<none>" : text);
}

json ColumnDefinitions(const Resource& resource) {
  const KindColumns* known = BuiltInColumns(resource);
  json definitions = json::array();
  for (const Column& column : known != nullptr ? known->columns : ColumnsOf(resource)) {
    definitions.push_back(ToDefinition(column));
  }
  return definitions;
}

json Cells(const Resource& resource, const json& object, Time now) {
  if (const KindColumns* known = BuiltInColumns(resource)) return known->cells(object, now);
  json cells = json::array();
  for (const Column& column : ColumnsOf(resource)) {
    cells.push_back(CustomCell(column, object, now));
  }
  return cells;
}

}  // namespace strata::apiserver
