#pragma once

#include <span>
#include <string_view>

namespace strata::apiserver {

// The files of deploy/crds, as they were when this program was built. By name.
struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] std::span<const EmbeddedFile> EmbeddedDefinitions();

}  // namespace strata::apiserver
