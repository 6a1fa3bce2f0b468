#pragma once

#include <string>
#include <string_view>
#include <vector>

// Names of the Container Device Interface (CDI), "<vendor>/<class>=<device>". Files in the CDI
// folders define them; a runtime that is given one that no file defines refuses the container.
namespace strata::agent {

// What is wrong with the vendor or the class of a name, "" if nothing is.
[[nodiscard]] std::string ProblemOfCdiVendor(std::string_view vendor);
[[nodiscard]] std::string ProblemOfCdiClass(std::string_view name);

struct CdiCheck {
  std::vector<std::string> missing;   // of the wanted names, in their order
  std::vector<std::string> problems;  // files that could not be read: "<path>: <why>"
};
// Reads the *.json and *.yaml files of the folders. A folder that is missing has no files.
[[nodiscard]] CdiCheck CheckCdiNames(const std::vector<std::string>& wanted,
                                     const std::vector<std::string>& folders);

}  // namespace strata::agent
