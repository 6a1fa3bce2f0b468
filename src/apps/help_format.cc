#include "apps/help_format.h"

#include <algorithm>
#include <set>

namespace strata {
namespace {

std::set<std::string> NamesOf(const std::set<CLI::Option*>& options) {
  std::set<std::string> names;
  for (const CLI::Option* option : options) names.insert(option->get_name());
  return names;
}

}  // namespace

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string text = CLI::Formatter::make_option_opts(option);
  if (!option->get_option_text().empty()) return text;  // then the others are not named
  struct Part {
    std::string title;
    std::set<std::string> names;
  };
  const Part parts[] = {{" " + get_label("Needs") + ":", NamesOf(option->get_needs())},
                        {" " + get_label("Excludes") + ":", NamesOf(option->get_excludes())}};
  // They come last, in this order.
  for (const Part& part : parts) {
    if (!part.names.empty()) text.erase(std::min(text.find(part.title), text.size()));
  }
  for (const Part& part : parts) {
    if (part.names.empty()) continue;
    text += part.title;
    for (const std::string& name : part.names) text += " " + name;
  }
  return text;
}

}  // namespace strata
