#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/resources/resource.h"
#include "apiserver/store/object_store.h"
#include "base/result.h"

namespace strata::apiserver {

// What an object must be like to be in a list or a watch: "a=b,c!=d,e in (f,g),h,!i" over labels
// and "spec.nodeName=n1,status.phase!=Failed" over fields. Empty selectors take everything.
class Selector {
 public:
  // kInvalidArgument with the server's sentence: broken syntax, more than 1,000 requirements, keys
  // and values that no label can have, a field that `resource` does not let one select by.
  [[nodiscard]] static Result<Selector> Parse(const Resource& resource,
                                              std::string_view labels,
                                              std::string_view fields);

  [[nodiscard]] bool Matches(const StoredObject& object) const;
  [[nodiscard]] bool empty() const { return labels_.empty() && fields_.empty(); }
  // The name that metadata.name=<name> asks for; "" when the selector is about more or less.
  [[nodiscard]] std::string_view only_name() const { return only_name_; }

  enum class Operator : std::uint8_t { kIn, kNotIn, kExists, kNotExists, kGreater, kLess };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;  // sorted
    std::int64_t bound = 0;           // of kGreater and kLess
  };

 private:
  std::vector<Requirement> labels_;
  std::vector<Requirement> fields_;
  std::string only_name_;
};

// The requirements of a label selector in the syntax of a query.
[[nodiscard]] Result<std::vector<Selector::Requirement>> ParseLabelSelector(std::string_view text);
// True when `labels` (sorted by key) fulfil all of them.
[[nodiscard]] bool MatchesAll(const std::vector<Selector::Requirement>& requirements,
                              const Pairs& labels);

}  // namespace strata::apiserver
