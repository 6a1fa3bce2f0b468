// Any text in the lock of a Node, and in what its agent says of itself, is read; a lock that names
// a pod and a time is written and read back the same.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "convert/gpu_dialect.h"
#include "convert/node_lock.h"

namespace {

void CheckLock(const std::string& text, strata::GpuDialect dialect) {
  const std::string key(strata::NamesOf(dialect).lock);
  const auto lock = strata::ReadNodeLock({{key, text}}, dialect);
  CHECK(lock.has_value() && lock->text == text);
  if (lock->owner.empty() || !lock->since) return;
  const std::size_t comma = text.find(',');
  const std::size_t second = text.find(',', comma + 1);
  const std::string ns = text.substr(comma + 1, second - comma - 1);
  const std::string pod = text.substr(second + 1);
  CHECK(lock->owner == ns + "/" + pod);
  if (dialect != strata::GpuDialect::kHami) return;
  const std::string written = strata::NodeLockText(dialect, *lock->since, ns, pod);
  const auto again = strata::ReadNodeLock({{key, written}}, dialect);
  CHECK(again.has_value() && again->owner == lock->owner);
  CHECK(again->since == std::chrono::floor<std::chrono::seconds>(*lock->since));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using strata::GpuDialect;
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const GpuDialect dialect : {GpuDialect::kHami, GpuDialect::kVolcano}) {
    CheckLock(text, dialect);
    const std::string registered(strata::NamesOf(dialect).registered);
    CHECK(!strata::NeedsNodeLock({{std::string(strata::kAgentAnnotation), text}}, dialect));
    const bool needs = strata::NeedsNodeLock(
        {{registered, "[]"}, {std::string(strata::kAgentAnnotation), text}}, dialect);
    CHECK(needs || dialect == GpuDialect::kHami);
  }
  return 0;
}
