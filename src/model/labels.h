#pragma once

#include <functional>
#include <map>
#include <string>

namespace strata {

// Label keys and values of one object. Ordered, so that whatever is printed or walked has one
// order.
using Labels = std::map<std::string, std::string, std::less<>>;

}  // namespace strata
