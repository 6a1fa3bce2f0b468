#include "apps/aliases.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <sstream>
#include <string_view>

namespace strata {
namespace {

constexpr std::array kAliases = {
    Alias{"jobs", "job list"},
    Alias{"queues", "queue list"},
    Alias{"node", "top"},
    Alias{"nodes", "top"},
    Alias{"hypernode", "topology"},
    Alias{"hypernodes", "topology"},
    Alias{"run", "job run"},
    Alias{"logs", "job logs"},
    Alias{"get job", "job list"},
    Alias{"get jobs", "job list"},
    Alias{"get queue", "queue list"},
    Alias{"get queues", "queue list"},
    Alias{"get node", "top"},
    Alias{"get nodes", "top"},
    Alias{"get hypernode", "topology"},
    Alias{"get hypernodes", "topology"},
    Alias{"describe job", "job describe"},
    Alias{"describe queue", "queue describe"},
    Alias{"create queue", "queue create"},
    Alias{"delete queue", "queue delete"},
    Alias{"delete job", "job cancel"},
    Alias{"job ls", "job list"},
    Alias{"job get", "job list"},
    Alias{"job view", "job describe"},
    Alias{"job show", "job describe"},
    Alias{"job delete", "job cancel"},
    Alias{"queue ls", "queue list"},
    Alias{"queue get", "queue describe"},
    Alias{"queue show", "queue describe"},
    Alias{"squeue", "job list"},
    Alias{"scancel", "job cancel"},
    Alias{"sinfo", "top"},
};

// The plurals that may stand before a command of theirs.
constexpr std::array kPlurals = {Alias{"jobs", "job"}, Alias{"queues", "queue"}};

std::vector<std::string> WordsOf(const char* text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

bool Begins(std::span<const std::string> words, const std::vector<std::string>& with) {
  return words.size() >= with.size() && std::equal(with.begin(), with.end(), words.begin());
}

// The plural that a further word follows, null if none does.
const Alias* FindPlural(std::span<const std::string> words) {
  if (words.size() < 2 || words[1].starts_with('-')) return nullptr;
  const auto* it = std::find_if(kPlurals.begin(), kPlurals.end(), [&](const Alias& alias) {
    return words.front() == alias.typed;
  });
  return it == kPlurals.end() ? nullptr : it;
}

const Alias* FindLongest(std::span<const std::string> words) {
  const Alias* longest = nullptr;
  std::size_t length = 0;
  for (const Alias& alias : kAliases) {
    const std::vector<std::string> typed = WordsOf(alias.typed);
    if (typed.size() <= length || !Begins(words, typed)) continue;
    longest = &alias;
    length = typed.size();
  }
  return longest;
}

void Replace(const Alias& alias, std::size_t at, std::vector<std::string>& words) {
  const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
  const auto end = begin + static_cast<std::ptrdiff_t>(WordsOf(alias.typed).size());
  const std::vector<std::string> meant = WordsOf(alias.meant);
  words.insert(words.erase(begin, end), meant.begin(), meant.end());
}

}  // namespace

std::span<const Alias> Aliases() {
  return kAliases;
}

std::vector<std::string> ExpandAliases(std::vector<std::string> words) {
  const std::size_t at = !words.empty() && words.front() == "help" ? 1 : 0;
  const auto rest = [&] { return std::span<const std::string>(words).subspan(at); };
  if (words.size() <= at) return words;
  if (const Alias* plural = FindPlural(rest())) Replace(*plural, at, words);
  if (const Alias* alias = FindLongest(rest())) Replace(*alias, at, words);
  return words;
}

}  // namespace strata
