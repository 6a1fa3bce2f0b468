#include "convert/node_lock.h"

#include <chrono>
#include <cstdint>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/timestamp.h"
#include "convert/gpu_dialect.h"
#include "json/access.h"
#include "json/parse.h"
#include "objects/meta.h"

namespace strata {
namespace {

constexpr std::int64_t kMaxUnixSeconds = std::int64_t{1} << 40;

// An agent that learns from the kubelet which pod it serves, or that serves none.
bool NeedsNoLock(const std::string& agent) {
  const nlohmann::json value = ParseJsonOrNull(agent);
  const std::string& identity = TextAt(value, {"identity"});
  return identity == "pods-api" || identity == "pods" || identity == "none";
}

}  // namespace

bool NeedsNodeLock(const Labels& annotations, GpuDialect dialect) {
  if (objects::Find(annotations, NamesOf(dialect).registered) == nullptr) return false;
  if (dialect == GpuDialect::kVolcano) return true;
  const std::string* agent = objects::Find(annotations, kAgentAnnotation);
  return agent == nullptr || !NeedsNoLock(*agent);
}

std::optional<NodeLock> ReadNodeLock(const Labels& annotations, GpuDialect dialect) {
  const std::string* text = objects::Find(annotations, NamesOf(dialect).lock);
  if (text == nullptr) return std::nullopt;
  NodeLock lock{.text = *text, .since = std::nullopt, .owner = ""};
  const std::vector<std::string_view> fields = Split(*text, ',');
  if (const auto since = ParseTimestamp(fields[0])) lock.since = *since;
  if (fields.size() == 3) lock.owner = fmt::format("{}/{}", fields[1], fields[2]);
  return lock;
}

std::string NodeLockText(GpuDialect dialect,
                         Time since,
                         std::string_view ns,
                         std::string_view pod) {
  const auto second = std::chrono::floor<std::chrono::seconds>(since);
  if (dialect == GpuDialect::kVolcano) return FormatTimestamp(second);
  return fmt::format("{},{},{}", FormatTimestamp(second), ns, pod);
}

AgentProgress ReadAgentProgress(const objects::Pod& pod, GpuDialect dialect) {
  using Phase = AgentProgress::Phase;
  const GpuNames& names = NamesOf(dialect);
  const std::string* phase = objects::Find(pod.meta.annotations, names.bind_phase);
  if (phase == nullptr || pod.spec.node_name.empty()) return {};
  if (*phase != kAllocatingPhase) return {.phase = Phase::kServed, .bound = std::nullopt};
  if (pod.status.phase != objects::PodPhase::kPending) return {};
  AgentProgress progress{.phase = Phase::kAllocating, .bound = std::nullopt};
  if (const std::string* text = objects::Find(pod.meta.annotations, names.bind_time)) {
    if (const auto seconds = WholeNumber(*text, kMaxUnixSeconds)) {
      progress.bound = Time(std::chrono::seconds(*seconds));
    }
  }
  return progress;
}

}  // namespace strata
