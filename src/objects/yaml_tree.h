#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace strata::objects {

// One value of a YAML document. Aliases point to the node they name, so that a node may stand in
// several places, and even inside itself.
struct YamlNode {
  enum class Kind : std::uint8_t { kNull, kScalar, kSequence, kMap };

  Kind kind = Kind::kNull;
  int line = 0;  // from 1
  int column = 0;
  std::string tag;     // "?" for a plain scalar, "!" for a quoted one, else as written and resolved
  std::string scalar;  // the text of a scalar
  std::vector<const YamlNode*> items;  // of a map: key, value, key, value
};

struct YamlDocument {
  std::vector<std::unique_ptr<YamlNode>> nodes;
  const YamlNode* root = nullptr;
};

// The documents of a YAML stream, empty ones left out. The only file that knows libyaml.
// kInvalidArgument with "line 3, column 7: ..." for invalid text
// (text_check.h) or no YAML.
[[nodiscard]] Result<std::vector<YamlDocument>> ParseYaml(std::string_view text);

}  // namespace strata::objects
