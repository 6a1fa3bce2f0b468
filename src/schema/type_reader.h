#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/schema.h"

namespace strata::schema {

// Makes schemas of types from our own notation (src/schema/types), each when it is first asked for:
//
//   package io.k8s.api.core.v1 core /v1     full name, short name, group/version
//   type Container kind atomic              `kind`: is served under its name
//     name! string                          `!`: required
//     ports []ContainerPort map=containerPort,protocol merge=containerPort
//     restartPolicy string<v1.RestartPolicy> or="Always"
//
// Types are scalars (string int32 int64 number bool bytes quantity intOrString time microTime any),
// names of types (of another package as short.Name), []T and {}T (a map). Attributes: set,
// map=keys, atomic for apply; merge[=key], retain[=key], mergeRetain[=key] for patches;
// default=JSON, or=JSON (for empty values, too); go=name of the list or map. A second text has
// descriptions, one a line: "core.Container.name Words."
//
// The texts must outlive the reader. Not safe for use by several threads.
class TypeReader {
 public:
  // REQUIRES: well-formed texts. They are ours, and a test reads all of them.
  TypeReader(const std::vector<std::string_view>& packages, std::string_view descriptions);

  // nullptr when there is none.
  [[nodiscard]] SchemaRef Kind(std::string_view group,
                               std::string_view version,
                               std::string_view kind);
  [[nodiscard]] SchemaRef Type(std::string_view type_name);
  [[nodiscard]] std::vector<std::string> TypeNames() const;

 private:
  struct Package {
    std::string_view name;
    std::string_view alias;
    std::string_view group_version;
  };
  struct Entry {
    const Package* package = nullptr;
    std::string_view name;
    std::vector<std::string_view> attributes;
    std::string_view body;
    SchemaRef made;
    bool in_progress = false;
  };

  void ReadPackage(std::string_view text);
  SchemaRef Make(Entry& entry);
  Field MakeField(const Entry& entry, std::string_view line);
  SchemaRef Expression(const Entry& entry, std::string_view text);
  SchemaRef Reference(const Entry& entry, std::string_view name);
  SchemaRef Scalar(std::string_view word);
  std::string Description(const std::string& key) const;

  std::vector<std::unique_ptr<Package>> packages_;
  std::map<std::string, Entry, std::less<>> types_;        // by short name: "core.Container"
  std::map<std::string, std::string, std::less<>> kinds_;  // "group/version/kind": short name
  std::map<std::string_view, std::string_view> descriptions_;
  std::map<std::string, SchemaRef, std::less<>> scalars_;  // shared: most fields are plain
};

}  // namespace strata::schema
