#include "apiserver/resources/definition_rows.h"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "json/access.h"
#include "schema/catalog.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

std::vector<std::string> Texts(const json& list) {
  std::vector<std::string> texts;
  for (const json& item : list) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::vector<Column> ReadColumns(const json& version) {
  std::vector<Column> columns;
  columns.push_back({.name = "Name",
                     .type = "string",
                     .format = "name",
                     .description = "Name must be unique within a namespace.",
                     .priority = 0,
                     .json_path = ".metadata.name"});
  const json& own = ListAt(version, {"additionalPrinterColumns"});
  for (const json& column : own) {
    columns.push_back({.name = TextAt(column, {"name"}),
                       .type = TextAt(column, {"type"}),
                       .format = TextAt(column, {"format"}),
                       .description = TextAt(column, {"description"}),
                       .priority = static_cast<std::int32_t>(IntegerAt(column, {"priority"})),
                       .json_path = TextAt(column, {"jsonPath"})});
  }
  if (own.empty()) {
    columns.push_back({.name = "Age",
                       .type = "date",
                       .format = "",
                       .description = "CreationTimestamp is the time at which the object was made.",
                       .priority = 0,
                       .json_path = ".metadata.creationTimestamp"});
  }
  return columns;
}

std::vector<std::string> ReadSelectableFields(const json& version) {
  std::vector<std::string> fields;
  for (const json& field : ListAt(version, {"selectableFields"})) {
    std::string path = TextAt(field, {"jsonPath"});
    if (path.starts_with('.')) path.erase(0, 1);
    if (!path.empty()) fields.push_back(std::move(path));
  }
  return fields;
}

}  // namespace

std::vector<Resource> DefinitionRows(const json& definition) {
  std::vector<Resource> rows;
  const json& spec = ObjectAt(definition, {"spec"});
  for (const json& version : ListAt(spec, {"versions"})) {
    const json* open_api = FindAt(version, {"schema", "openAPIV3Schema"});
    if (open_api == nullptr) return {};
    Result<schema::SchemaRef> schema = schema::FromCustomResource(*open_api);
    if (!schema) return {};
    if (!BoolAt(version, {"served"})) continue;
    Resource row;
    row.group = TextAt(spec, {"group"});
    row.version = TextAt(version, {"name"});
    row.kind = TextAt(spec, {"names", "kind"});
    row.plural = TextAt(spec, {"names", "plural"});
    row.singular = TextAt(spec, {"names", "singular"});
    row.short_names = Texts(ListAt(spec, {"names", "shortNames"}));
    row.categories = Texts(ListAt(spec, {"names", "categories"}));
    row.namespaced = TextAt(spec, {"scope"}) == "Namespaced";
    row.custom = true;
    row.has_status = FindAt(version, {"subresources", "status"}) != nullptr;
    row.generation = Generation::kSpec;
    row.unconditional_update = false;
    row.selectable_fields = ReadSelectableFields(version);
    row.columns = ReadColumns(version);
    row.schema = std::move(*schema);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace strata::apiserver
