// A label selector that reads is the same once it is written and read again, and says of nodes as
// of others what Kubernetes says of its operators.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "objects/cursor.h"
#include "objects/readers.h"
#include "objects/value.h"
#include "objects/write_parts.h"

namespace strata {
namespace {

std::optional<LabelSelector> Read(std::string_view text) {
  const auto document = objects::Document::ParseJson(text);
  if (!document) return std::nullopt;
  objects::ReadLog log;
  const objects::Cursor root(document->root(), log);
  LabelSelector selector;
  objects::ReadLabelSelector(root, selector);
  if (!log.error.empty()) return std::nullopt;
  return selector;
}

// Labels that the selector knows, in all their values and in one of nobody, and others.
std::vector<Labels> Samples(const LabelSelector& selector) {
  Labels all = {{"app", "web"}, {"rack", "1"}};
  std::vector<Labels> samples = {{}, all};
  for (const Requirement& requirement : selector.requirements) {
    samples.push_back({{requirement.key, "of-nobody"}});
    for (const std::string& value : requirement.values) {
      samples.push_back({{requirement.key, value}});
    }
    all.insert_or_assign(requirement.key,
                         requirement.values.empty() ? "" : requirement.values.front());
  }
  samples.push_back(all);
  return samples;
}

// What Kubernetes says of the four operators that label selectors have.
bool ShouldMatch(const Requirement& requirement, const Labels& labels) {
  const auto& values = requirement.values;
  const auto label = labels.find(requirement.key);
  const bool there = label != labels.end();
  const bool listed =
      there && std::find(values.begin(), values.end(), label->second) != values.end();
  switch (requirement.op) {
    case SelectorOp::kIn:
      return listed;
    case SelectorOp::kNotIn:
      return !listed;
    case SelectorOp::kExists:
      return there;
    case SelectorOp::kDoesNotExist:
      return !there;
    case SelectorOp::kGt:
    case SelectorOp::kLt:
      break;
  }
  CHECK(false);  // only node affinity has the others
  return false;
}

void CheckSelector(const LabelSelector& selector) {
  const std::string written = objects::WriteLabelSelector(selector).dump();
  CHECK(Read(written) == selector);
  CHECK(selector.empty() == (ToString(selector) == "<none>"));
  const auto& all = selector.requirements;
  for (const Labels& labels : Samples(selector)) {
    const bool wanted = std::all_of(all.begin(), all.end(), [&](const Requirement& requirement) {
      CHECK(requirement.Matches(labels) == ShouldMatch(requirement, labels));
      return ShouldMatch(requirement, labels);
    });
    CHECK(selector.Matches(labels) == wanted);
    CHECK(selector.Matches(NodeLabels(labels)) == wanted);
  }
}

}  // namespace
}  // namespace strata

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMaxRequirements = 50;  // each is asked about the values of all others
  const auto selector = strata::Read({reinterpret_cast<const char*>(data), size});
  if (selector && selector->requirements.size() <= kMaxRequirements) {
    strata::CheckSelector(*selector);
  }
  return 0;
}
