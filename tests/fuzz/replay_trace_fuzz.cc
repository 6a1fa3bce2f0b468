// A text that reads as a trace, in any of the formats, is written in our own form as a trace that
// reads as the same; and what it says can be replayed, by books that agree. The first byte chooses
// the format, 'a' for the first of them; any other letter leaves it to the header.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "replay/engine.h"
#include "replay/policies/policy.h"
#include "replay/trace.h"
#include "replay/workload.h"

namespace strata::replay {
namespace {

Result<Trace> Read(std::string text, std::string_view format) {
  const std::array<TraceText, 1> files = {TraceText{.path = "t", .text = std::move(text)}};
  return ReadTrace(files, {.format = std::string(format), .gpus_per_pod = 8});
}

void CheckReplay(const Trace& trace, const Fabric& fabric) {
  constexpr std::size_t kMaxJobs = 200;
  if (trace.jobs.size() > kMaxJobs) return;
  const auto workload = MakeWorkload(trace, fabric, {});
  if (!workload) {
    CHECK(!workload.error().message.empty());
    return;
  }
  const auto choice = ChoosePolicy("rule:lowest-switch");
  CHECK(choice.has_value());
  const auto policy = MakePolicy(*choice, *workload, fabric, 1);
  CHECK(policy.has_value());
  const EngineResult result =
      Replay(*workload, fabric, {.discipline = Discipline::kSkip, .check = true}, **policy);
  CHECK(result.faults.empty());
}

void CheckTrace(const Trace& trace) {
  CHECK(!trace.jobs.empty());
  for (const TraceJob& job : trace.jobs) {
    CHECK(!job.name.empty() && job.submit >= 0 && job.duration >= 0 && job.pods >= 1);
    CHECK(job.gpus >= 0 && job.last_gpus >= 0 && job.last_gpus <= job.gpus);
    CHECK(job.gpu_milli >= 1 && job.gpu_milli <= 1000 && job.pods % job.groups == 0);
  }
  const std::string written = WriteTrace(trace);
  const auto again = Read(written, "");
  CHECK(again.has_value());
  CHECK(again->jobs == trace.jobs);
  CHECK(WriteTrace(*again) == written);
}

void CheckText(std::string_view format, std::string text) {
  static const Fabric fabric = MakeFabric(2, 2, 2, 8);
  const auto trace = Read(std::move(text), format);
  if (!trace) {
    CHECK(trace.error().message.find('\n') == std::string::npos);
    CHECK(trace.error().message.starts_with("t:"));
    return;
  }
  CheckTrace(*trace);
  CheckReplay(*trace, fabric);
}

}  // namespace
}  // namespace strata::replay

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  static const auto formats = strata::replay::KnownFormats();
  const auto chosen = static_cast<std::size_t>(static_cast<unsigned char>(text.front())) - 'a';
  strata::replay::CheckText(chosen < formats.size() ? formats[chosen] : std::string_view(),
                            std::string(text.substr(1)));
  return 0;
}
