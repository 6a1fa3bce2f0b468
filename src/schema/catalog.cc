#include "schema/catalog.h"

#include "base/mutex.h"
#include "schema/embedded.h"
#include "schema/type_reader.h"

namespace strata::schema {
namespace {

struct Catalog {
  Mutex mutex;
  TypeReader reader GUARDED_BY(mutex) = {EmbeddedTypes(), EmbeddedDescriptions()};
};

Catalog& TheCatalog() {
  static Catalog catalog;
  return catalog;
}

}  // namespace

SchemaRef BuiltIn(std::string_view group, std::string_view version, std::string_view kind) {
  Catalog& catalog = TheCatalog();
  const MutexLock lock(catalog.mutex);
  return catalog.reader.Kind(group, version, kind);
}

SchemaRef BuiltInType(std::string_view type_name) {
  Catalog& catalog = TheCatalog();
  const MutexLock lock(catalog.mutex);
  return catalog.reader.Type(type_name);
}

std::vector<std::string_view> OwnDefinitions() {
  return EmbeddedDefinitions();
}

}  // namespace strata::schema
