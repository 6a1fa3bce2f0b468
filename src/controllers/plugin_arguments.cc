#include "controllers/plugin_arguments.h"

#include <charconv>

namespace strata::controllers {

PluginArguments::PluginArguments(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string_view text = arguments[i];
    if (!text.starts_with('-')) continue;
    text.remove_prefix(text.starts_with("--") ? 2 : 1);
    const std::size_t equals = text.find('=');
    const std::string name(text.substr(0, equals));
    if (equals != std::string_view::npos) {
      values_[name] = text.substr(equals + 1);
    } else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with('-')) {
      values_[name] = arguments[++i];
    } else {
      values_[name] = "true";
    }
  }
}

std::string PluginArguments::Text(std::string_view name, std::string_view otherwise) const {
  const auto found = values_.find(name);
  return found == values_.end() ? std::string(otherwise) : found->second;
}

bool PluginArguments::Flag(std::string_view name, bool otherwise) const {
  const std::string word = Text(name, "");
  if (word == "true" || word == "1" || word == "t" || word == "T" || word == "True") return true;
  if (word == "false" || word == "0" || word == "f" || word == "F" || word == "False") return false;
  return otherwise;
}

std::int32_t PluginArguments::Number(std::string_view name, std::int32_t otherwise) const {
  const std::string text = Text(name, "");
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number > 0 ? number : otherwise;
}

std::int32_t PluginArguments::Port(std::string_view name, std::int32_t otherwise) const {
  constexpr std::int32_t kLast = 65535;
  const std::int32_t port = Number(name, otherwise);
  return port <= kLast ? port : otherwise;
}

}  // namespace strata::controllers
