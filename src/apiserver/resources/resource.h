#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "admission/resource_info.h"
#include "schema/schema.h"

namespace strata::apiserver {

// One column of `kubectl get`. A custom kind's come from its definition; a built-in kind's cells
// are made by table.cc, and `json_path` is "".
struct Column {
  std::string name;
  std::string type;    // "string", "integer", "date", ...
  std::string format;  // "name" for the first
  std::string description;
  std::int32_t priority = 0;  // above 0: only with -o wide
  std::string json_path;
};

// When metadata.generation counts.
enum class Generation : std::uint8_t { kNone, kPod, kSpec };

// One row of the table of what is served: a kind in one version. Everything that differs from kind
// to kind and is not a rule (admission) is here.
struct Resource : admission::ResourceInfo {
  std::string singular;
  std::vector<std::string> short_names;
  std::vector<std::string> categories;
  bool namespaced = true;
  bool has_status = false;                // a status subresource
  std::vector<std::string> subresources;  // besides status: "binding", "eviction", "log"
  Generation generation = Generation::kNone;
  bool unconditional_update = true;  // PUT without resourceVersion is last-writer-wins (fact 17)
  bool create_on_update = false;     // PUT of what is missing creates it (fact 17)
  std::vector<std::string>
      selectable_fields;  // besides metadata.name, metadata.namespace: "spec.nodeName"
  std::vector<Column> columns;
  schema::SchemaRef schema;  // never null
};

using ResourceRef = std::shared_ptr<const Resource>;

// Every kind that needs no definition, in the order of discovery.
[[nodiscard]] std::vector<Resource> BuiltInResources();

// What is served now. Custom resources are added and removed; a row never changes, so that a
// request under way keeps the row it began with.
class ResourceTable {
 public:
  // Every built-in kind. Volcano's groups are CustomResourceDefinitions, which
  // lifecycle/bootstrap.h installs.
  ResourceTable();

  // nullptr when there is none.
  [[nodiscard]] ResourceRef Find(std::string_view group,
                                 std::string_view version,
                                 std::string_view plural) const;
  [[nodiscard]] ResourceRef FindKind(std::string_view group,
                                     std::string_view version,
                                     std::string_view kind) const;
  // By group, version, plural; built-in groups first.
  [[nodiscard]] const std::vector<ResourceRef>& rows() const { return rows_; }

  // Puts a custom row in, or in the place of the one with the same group, version and plural.
  void Put(Resource row);
  void RemoveGroupResource(std::string_view group, std::string_view plural);

  // Changes whenever a row does: what is made from the table may be kept as long as it is the same.
  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  [[nodiscard]] bool HasGroup(std::string_view group) const;
  [[nodiscard]] bool HasGroupVersion(std::string_view group, std::string_view version) const;

 private:
  std::vector<ResourceRef> rows_;
  std::uint64_t revision_ = 0;
};

}  // namespace strata::apiserver
