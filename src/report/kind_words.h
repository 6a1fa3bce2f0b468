#pragma once

#include <string>
#include <string_view>

namespace strata {

// The kind that people mean by the first part of KIND/NAME, whatever its case: "Job" for "vcjob",
// "Deployment" for "deploy". A word with a capital letter, which no namespace has, is a kind by
// itself. "" for all others.
[[nodiscard]] std::string KindOfWord(std::string_view word);

}  // namespace strata
