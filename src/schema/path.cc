#include "schema/path.h"

namespace strata::schema {

std::string Path::ToString() const {
  if (parent_ == nullptr) return "";
  std::string text = parent_->ToString();
  if (key_.data() == nullptr) return text + "[" + std::to_string(index_) + "]";
  if (!text.empty()) text += '.';
  return text.append(key_);
}

}  // namespace strata::schema
