#include "schema/path.h"

#include "base/utf8.h"

namespace strata::schema {

std::string Path::ToString() const {
  std::string text;
  AppendTo(text);
  return text;
}

void Path::AppendTo(std::string& text) const {
  if (parent_ == nullptr) return;
  parent_->AppendTo(text);
  if (key_.data() == nullptr) {
    text += '[' + std::to_string(index_) + ']';
    return;
  }
  if (!text.empty()) text += '.';
  text += CutUtf8(key_, kShownKey);
}

}  // namespace strata::schema
