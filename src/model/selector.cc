#include "model/selector.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace strata {
namespace {

// A whole decimal integer with an optional sign, as Go's strconv.ParseInt(text, 10, 64) reads it.
std::optional<std::int64_t> ParseInteger(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;  // from_chars would take the second sign
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string Join(const std::vector<std::string>& values) {
  std::string joined;
  for (const std::string& value : values) {
    if (!joined.empty()) joined += ',';
    joined += value;
  }
  return joined;
}

// "key=v" and "key!=v" for one value, "key in (a,b)" and "key notin (a,b)" otherwise.
std::string SetText(const Requirement& requirement, std::string_view one, std::string_view many) {
  std::string text = requirement.key;
  if (requirement.values.size() == 1) {
    text += one;
    text += requirement.values.front();
    return text;
  }
  text += many;
  text += '(';
  text += Join(requirement.values);
  text += ')';
  return text;
}

template <typename AnyLabels>
bool Holds(const Requirement& requirement, const AnyLabels& labels) {
  const auto label = labels.find(requirement.key);
  if (label != labels.end()) return requirement.MatchesValue(label->second);
  return requirement.op == SelectorOp::kNotIn || requirement.op == SelectorOp::kDoesNotExist;
}

template <typename AnyLabels>
bool AllHold(const std::vector<Requirement>& requirements, const AnyLabels& labels) {
  return std::all_of(requirements.begin(), requirements.end(), [&](const Requirement& each) {
    return Holds(each, labels);
  });
}

}  // namespace

bool Requirement::Matches(const Labels& labels) const {
  return Holds(*this, labels);
}

bool Requirement::Matches(const NodeLabels& labels) const {
  return Holds(*this, labels);
}

bool Requirement::MatchesValue(std::string_view value) const {
  const auto compare = [&](auto holds) {
    if (values.size() != 1) return false;
    const std::optional<std::int64_t> left = ParseInteger(value);
    const std::optional<std::int64_t> right = ParseInteger(values.front());
    return left && right && holds(*left, *right);
  };
  switch (op) {
    case SelectorOp::kIn:
      return std::binary_search(values.begin(), values.end(), value);
    case SelectorOp::kNotIn:
      return !std::binary_search(values.begin(), values.end(), value);
    case SelectorOp::kExists:
      return true;
    case SelectorOp::kDoesNotExist:
      return false;
    case SelectorOp::kGt:
      return compare(std::greater<>());
    case SelectorOp::kLt:
      return compare(std::less<>());
  }
  return false;
}

bool LabelSelector::Matches(const Labels& labels) const {
  return AllHold(requirements, labels);
}

bool LabelSelector::Matches(const NodeLabels& labels) const {
  return AllHold(requirements, labels);
}

std::string ToString(const Requirement& requirement) {
  switch (requirement.op) {
    case SelectorOp::kIn:
      return SetText(requirement, "=", " in ");
    case SelectorOp::kNotIn:
      return SetText(requirement, "!=", " notin ");
    case SelectorOp::kExists:
      return requirement.key;
    case SelectorOp::kDoesNotExist:
      return "!" + requirement.key;
    case SelectorOp::kGt:
      return requirement.key + ">" + Join(requirement.values);
    case SelectorOp::kLt:
      return requirement.key + "<" + Join(requirement.values);
  }
  return requirement.key;
}

std::string ToString(const LabelSelector& selector) {
  if (selector.empty()) return "<none>";
  std::string text;
  for (const Requirement& requirement : selector.requirements) {
    if (!text.empty()) text += ',';
    text += ToString(requirement);
  }
  return text;
}

}  // namespace strata
