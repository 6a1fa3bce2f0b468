#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/api_error.h"
#include "admission/queue_rules.h"
#include "base/ascii.h"
#include "json/access.h"
#include "json/parse.h"

namespace strata::admission {
namespace {

using nlohmann::json;

constexpr std::string_view kHierarchyPath = "volcano.sh/hierarchy";
constexpr std::string_view kHierarchyWeights = "volcano.sh/hierarchy-weights";
constexpr std::string_view kTopOfHierarchy = "root";
constexpr std::size_t kMaxQuoted = 64;

std::string_view AnnotationOf(const json& object, std::string_view key) {
  return TextAt(object, {"metadata", "annotations", key});
}

std::optional<double> NumberOf(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || !std::isfinite(number)) return std::nullopt;
  return number;
}

void CheckWeights(std::string_view weights, Problems& problems) {
  const std::string field = fmt::format("metadata.annotations.{}", kHierarchyWeights);
  const std::string shown = Shortened(std::string(weights), kMaxQuoted);
  for (const std::string_view weight : Split(weights, '/')) {
    const std::string one = Shortened(std::string(weight), kMaxQuoted);
    const std::optional<double> number = NumberOf(weight);
    if (!number) {
      return problems.Invalid(
          field,
          shown,
          fmt::format(
              "\"{}\" in the {} is invalid number (want numbers larger than 0)", one, shown));
    }
    if (*number <= 0) {
      return problems.Invalid(
          field, shown, fmt::format("{} in the {} must be larger than 0", one, shown));
    }
  }
}

// A queue is a leaf: no other one is below its path.
void CheckIsLeaf(const ObjectReader& store,
                 const std::string& name,
                 std::string_view path,
                 Problems& problems) {
  const std::string below = std::string(path) + "/";
  store.VisitLatest(std::string(kQueueResource), "", [&](const StoredObject& other) {
    const json object = ParseJsonOrNull(other.body);
    const std::string_view theirs = AnnotationOf(object, kHierarchyPath);
    if (other.name == name || !theirs.starts_with(below)) return true;
    problems.Invalid(fmt::format("metadata.annotations.{}", kHierarchyPath),
                     std::string(path),
                     fmt::format("{} is not allowed to be in the sub path of {} of queue {}",
                                 Shortened(std::string(path), kMaxQuoted),
                                 Shortened(std::string(theirs), kMaxQuoted),
                                 other.name));
    return false;
  });
}

}  // namespace

void CompleteHierarchy(json& object) {
  const std::string path(AnnotationOf(object, kHierarchyPath));
  const std::string weights(AnnotationOf(object, kHierarchyWeights));
  if (path.empty() || weights.empty() || path.starts_with(kTopOfHierarchy)) return;
  json& annotations = object["metadata"]["annotations"];
  annotations[std::string(kHierarchyPath)] = fmt::format("{}/{}", kTopOfHierarchy, path);
  annotations[std::string(kHierarchyWeights)] = fmt::format("1/{}", weights);
}

bool HaveSameHierarchy(const json& a, const json& b) {
  return AnnotationOf(a, kHierarchyPath) == AnnotationOf(b, kHierarchyPath) &&
         AnnotationOf(a, kHierarchyWeights) == AnnotationOf(b, kHierarchyWeights);
}

void CheckHierarchyAnnotations(const ObjectReader& store, const json& object, Problems& problems) {
  const std::string_view path = AnnotationOf(object, kHierarchyPath);
  const std::string_view weights = AnnotationOf(object, kHierarchyWeights);
  if (path.empty() && weights.empty()) return;
  const std::size_t names = Split(path, '/').size();
  const std::size_t numbers = Split(weights, '/').size();
  if (names != numbers) {
    return problems.Invalid(
        fmt::format("metadata.annotations.{}", kHierarchyPath),
        std::string(path),
        fmt::format("{} must have the same length with {} (one weight for each name), found {} "
                    "and {}",
                    kHierarchyPath,
                    kHierarchyWeights,
                    names,
                    numbers));
  }
  CheckWeights(weights, problems);
  CheckIsLeaf(store, TextAt(object, {"metadata", "name"}), path, problems);
}

}  // namespace strata::admission
