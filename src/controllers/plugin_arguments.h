#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace strata::controllers {

// The arguments of a job's plugin, as Go's flags are written: "--port=22", "-port=22", "--port"
// "22", "--wait". The last of duplicate flags counts; other words are skipped.
class PluginArguments {
 public:
  explicit PluginArguments(const std::vector<std::string>& arguments);

  [[nodiscard]] std::string Text(std::string_view name, std::string_view otherwise) const;
  // A word that is not a boolean is `otherwise`.
  [[nodiscard]] bool Flag(std::string_view name, bool otherwise) const;
  // Likewise for a word that is not a number from 1 on, or not a port.
  [[nodiscard]] std::int32_t Number(std::string_view name, std::int32_t otherwise) const;
  [[nodiscard]] std::int32_t Port(std::string_view name, std::int32_t otherwise) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace strata::controllers
