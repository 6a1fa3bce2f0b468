#include "report/names.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ascii.h"
#include "base/near_names.h"

namespace strata {
namespace {

constexpr std::size_t kShownNames = 6;
constexpr std::size_t kShortestPart = 3;  // that makes two names similar
constexpr std::size_t kNearest = 3;

// Takes the digits at the start of `text`, and gives them without leading zeros.
std::string_view TakeNumber(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && IsDigit(text[end])) ++end;
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

// Whether somebody who wrote `wanted` may have meant `name`.
bool IsSimilar(std::string_view name, std::string_view wanted) {
  const std::size_t shorter = std::min(name.size(), wanted.size());
  if (shorter == 0) return name == wanted;
  const bool contains =
      name.find(wanted) != std::string_view::npos || wanted.find(name) != std::string_view::npos;
  if (contains && shorter >= kShortestPart) return true;
  const std::size_t longer = std::max(name.size(), wanted.size());
  // Two letters that changed places count as two errors.
  const std::size_t allowed =
      std::max<std::size_t>(longer / 3, std::min<std::size_t>(2, shorter / 2));
  return longer - shorter <= allowed && TypingErrors(name, wanted) <= allowed;
}

bool IsSimilarInAllParts(std::string_view name, std::string_view wanted) {
  const std::size_t slash = name.find('/');
  const std::size_t wanted_slash = wanted.find('/');
  if (slash == std::string_view::npos || wanted_slash == std::string_view::npos) {
    return IsSimilar(name, wanted);
  }
  if (!IsSimilar(name.substr(slash + 1), wanted.substr(wanted_slash + 1))) return false;
  // The right name in another namespace is worth a hint.
  return name.substr(slash) == wanted.substr(wanted_slash) ||
         IsSimilar(name.substr(0, slash), wanted.substr(0, wanted_slash));
}

}  // namespace

bool NaturalLess(std::string_view a, std::string_view b) {
  std::string_view left = a;
  std::string_view right = b;
  while (!left.empty() && !right.empty()) {
    if (IsDigit(left.front()) && IsDigit(right.front())) {
      const std::string_view x = TakeNumber(left);
      const std::string_view y = TakeNumber(right);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (left.front() != right.front()) return left.front() < right.front();
    left.remove_prefix(1);
    right.remove_prefix(1);
  }
  if (left.empty() != right.empty()) return left.empty();
  return a < b;
}

std::string NameSome(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t shown = std::min(names.size(), kShownNames);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::vector<std::string> NearestNames(const std::vector<std::string>& names,
                                      std::string_view wanted,
                                      std::size_t count) {
  return NearNames(names, wanted, count);
}

std::vector<std::string> SimilarNames(const std::vector<std::string>& names,
                                      std::string_view wanted,
                                      std::size_t count) {
  std::vector<std::string> similar;
  for (const std::string& name : names) {
    if (IsSimilarInAllParts(name, wanted)) similar.push_back(name);
  }
  return NearNames(similar, wanted, count);
}

std::string NearestClause(const std::vector<std::string>& names, std::string_view wanted) {
  const std::vector<std::string> nearest = SimilarNames(names, wanted, kNearest);
  if (nearest.empty()) return "";
  return fmt::format(
      "; nearest {} {}", nearest.size() == 1 ? "is" : "are", fmt::join(nearest, ", "));
}

}  // namespace strata
