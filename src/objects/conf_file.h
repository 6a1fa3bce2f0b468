#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "objects/load.h"
#include "objects/value.h"

namespace strata::objects {

struct ConfFile {
  std::string name;                  // for messages: the file, and the key inside a ConfigMap
  std::optional<Document> document;  // none when the text holds no document
};

// One of Volcano's configuration files, YAML: bare, or inside the ConfigMap that holds it in a
// cluster under `key`, or under the only key that ends in .conf. kInvalidArgument with the name of
// the file: broken YAML, several documents
// (`what` says what was wanted), a ConfigMap without the key.
[[nodiscard]] Result<ConfFile> ParseConfFile(const Source& source,
                                             std::string_view key,
                                             std::string_view what);

}  // namespace strata::objects
