// A label selector that reads means the same for a node as for others, and prints.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "model/name_pattern.h"
#include "objects/cursor.h"
#include "objects/readers.h"
#include "objects/value.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto pattern = strata::NamePattern::Compile(text.substr(0, 64))) {
    CHECK(pattern->Matches("node-1") == pattern->Matches("node-1"));
  }
  const auto document = strata::objects::Document::ParseJson(text);
  if (!document) return 0;
  strata::objects::ReadLog log;
  const strata::objects::Cursor root(document->root(), log);
  strata::LabelSelector selector;
  strata::objects::ReadLabelSelector(root, selector);
  if (!log.error.empty()) return 0;
  const strata::Labels labels = {{"app", "web"}, {"rack", "1"}};
  CHECK(selector.Matches(labels) == selector.Matches(strata::NodeLabels(labels)));
  CHECK(selector.empty() || !strata::ToString(selector).empty());
  return 0;
}
