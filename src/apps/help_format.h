#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace strata {

// The help of CLI11, where flags that need or exclude others name them in the order of their names:
// CLI11 itself goes by their addresses, which differ from run to run.
class HelpFormatter final : public CLI::Formatter {
 public:
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
};

}  // namespace strata
