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

// The same of those only that somebody may have meant: a third of the letters may differ, or one
// name is a part of the other. Both parts of a name "ns/name" must be similar.
[[nodiscard]] std::vector<std::string> SimilarNames(const std::vector<std::string>& names,
                                                    std::string_view wanted,
                                                    std::size_t count);

// "; nearest is train", "; nearest are train, trains": what to add to a message about a name that
// does not exist. "" when no name is similar.
[[nodiscard]] std::string NearestClause(const std::vector<std::string>& names,
                                        std::string_view wanted);

// Whether `a` comes before `b` where people read names: numbers in them count as numbers, so that
// s2 is before s10. Names that differ only in leading zeros are in the order of their bytes.
[[nodiscard]] bool NaturalLess(std::string_view a, std::string_view b);

// "s0, s1 and 8 more".
[[nodiscard]] std::string NameSome(const std::vector<std::string>& names);

}  // namespace strata
