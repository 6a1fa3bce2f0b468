#include "apiserver/views/list_views.h"

#include <utility>

#include "apiserver/views/views.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

json Metadata(const json& object) {
  const auto found = object.find("metadata");
  return found == object.end() ? json::object() : *found;
}

}  // namespace

json PartialOf(const Call& call, const json& object) {
  const std::string version =
      call.out.view == View::kPartial ? call.out.view_version : std::string("v1");
  return {{"kind", "PartialObjectMetadata"},
          {"apiVersion", "meta.k8s.io/" + version},
          {"metadata", Metadata(object)}};
}

json TableRow(const Call& call, const json& object) {
  json row = {{"cells", Cells(*call.resource, object, call.now)}};
  const std::string_view include = call.query.Get("includeObject");
  if (include == "Object") {
    row["object"] = object;
    row["object"]["apiVersion"] = call.resource->ApiVersion();
    row["object"]["kind"] = call.resource->kind;
  } else if (include != "None") {
    row["object"] = PartialOf(call, object);
  }
  return row;
}

json EmptyTable(const Call& call, Columns columns) {
  return {{"kind", "Table"},
          {"apiVersion", "meta.k8s.io/" + call.out.view_version},
          {"metadata", json::object()},
          {"columnDefinitions",
           columns == Columns::kDefined ? ColumnDefinitions(*call.resource) : json(nullptr)},
          {"rows", json::array()}};
}

json TableOf(const Call& call, std::span<const json> objects) {
  json table = EmptyTable(call, Columns::kDefined);
  for (const json& object : objects) table["rows"].push_back(TableRow(call, object));
  if (objects.size() == 1) {
    const json metadata = Metadata(objects[0]);
    const auto version = metadata.find("resourceVersion");
    if (version != metadata.end()) table["metadata"]["resourceVersion"] = *version;
  }
  return table;
}

}  // namespace strata::apiserver
