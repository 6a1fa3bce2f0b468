#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Lists of names in messages.
namespace strata {

// Up to `count` of `names`, those first that take the fewest typing errors to get from `wanted`;
// equal ones by name.
[[nodiscard]] std::vector<std::string> NearestNames(const std::vector<std::string>& names,
                                                    std::string_view wanted,
                                                    std::size_t count);

// "s0, s1 and 8 more".
[[nodiscard]] std::string NameSome(const std::vector<std::string>& names);

}  // namespace strata
