#pragma once

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "admission/problems.h"
#include "objects/cursor.h"
#include "objects/readers.h"

namespace strata::admission {

// Lets the readers of src/objects look at `object`: the one place that knows the rules of a kind's
// fields. The first problem that they find is added to `problems`, its path behind `field` (""
// for a whole object). True when it is nothing.
bool ReadWith(const nlohmann::json& object,
              const std::string& field,
              const std::function<void(const objects::Cursor&)>& read,
              Problems& problems);

// The same for the fields of a whole object of kind T; its metadata is the caller's.
template <typename T>
bool CheckByReader(const nlohmann::json& object, Problems& problems) {
  return ReadWith(
      object,
      "",
      [](const objects::Cursor& at) {
        T read;
        objects::ReadObject(at, read);
      },
      problems);
}

}  // namespace strata::admission
