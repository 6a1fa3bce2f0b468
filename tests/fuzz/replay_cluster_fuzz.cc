// A text that reads as a cluster of the lab has nodes with names, each in at most one domain of a
// level; published figures and compressed files are read or rejected. The first byte chooses the
// reader: l for Lingjun, o for openb, p for published figures, anything else for gzip.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "model/cluster_state.h"
#include "replay/fabric.h"
#include "replay/fgd/fill_report.h"
#include "replay/input_files.h"

namespace strata::replay {
namespace {

void CheckError(const Error& error) {
  CHECK(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

void CheckFabric(const Result<Fabric>& fabric) {
  if (!fabric) {
    CheckError(fabric.error());
    return;
  }
  CHECK(!fabric->nodes.empty() && fabric->TotalGpus() > 0);
  for (const Fabric::Level& level : fabric->levels) {
    CHECK(level.of_node.size() == fabric->nodes.size());
    for (const DomainIndex domain : level.of_node) {
      CHECK(domain == Fabric::kNoDomain || domain < level.domains.size());
    }
  }
  ClusterState state;
  const Status filled = FillState(*fabric, state);
  if (!filled) CheckError(filled.error());
  if (filled) CHECK(state.nodes().all().size() == fabric->nodes.size());
}

void CheckText(char reader, std::string text) {
  if (reader == 'l') return CheckFabric(ReadLingjun("t", text, "", 8));
  if (reader == 'o') return CheckFabric(ReadOpenbNodes("t", text));
  if (reader == 'p') {
    const auto published = fgd::ReadPublished("t", text);
    if (!published) CheckError(published.error());
    return;
  }
  constexpr std::size_t kMost = 1 << 20U;
  const auto plain = Decompressed(std::move(text), kMost);
  if (!plain) CheckError(plain.error());
}

}  // namespace
}  // namespace strata::replay

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (!text.empty()) strata::replay::CheckText(text.front(), std::string(text.substr(1)));
  return 0;
}
