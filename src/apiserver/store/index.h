#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/store/object_store.h"
#include "base/result.h"

namespace strata::apiserver {

// Finds in an object's text what the store keeps beside it.
class ObjectIndexer {
 public:
  ObjectIndexer();
  ObjectIndexer(const ObjectIndexer&) = delete;
  ObjectIndexer& operator=(const ObjectIndexer&) = delete;
  ~ObjectIndexer();

  // Sets uid, labels and fields of `object` from its body. `paths` are "spec.nodeName" and so on;
  // one that leads to nothing, to an object or to a list gives no field. kInvalidArgument when the
  // body is not a JSON object, or is nested deeper than 1,024.
  [[nodiscard]] Status Index(const std::vector<std::string>& paths, StoredObject& object);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::apiserver
