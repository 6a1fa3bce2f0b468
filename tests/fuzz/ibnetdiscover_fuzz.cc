// A text that reads as ibnetdiscover's is a fabric whose tree holds every linked host exactly once.
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/check.h"
#include "discovery/infiniband.h"
#include "discovery/tree.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto fabric = strata::discovery::ParseIbnetdiscover(text);
  if (!fabric) {
    CHECK(!fabric.error().message.empty());
    return 0;
  }
  std::set<std::string> linked;
  for (const auto& [pair, count] : fabric->host_links) linked.insert(pair.first);
  std::set<std::string> placed;
  std::set<std::size_t> children;
  const strata::discovery::Tree tree = strata::discovery::FormTree(*fabric);
  for (const strata::discovery::Group& group : tree.groups) {
    CHECK(!group.nodes.empty() || !group.children.empty());
    for (const std::string& node : group.nodes) CHECK(placed.insert(node).second);
    for (const std::size_t child : group.children) {
      CHECK(children.insert(child).second);
      CHECK(tree.groups[child].tier < group.tier);
    }
  }
  CHECK(placed == linked);
  return 0;
}
