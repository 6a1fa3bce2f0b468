// Any text in the GPU annotations gives GPUs and claims, or none and a sentence; a claim that was
// read is read back the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "convert/gpu_annotations.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using strata::Labels;
  // Up to two lines of the input are the two annotations.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  const std::string first(text.substr(0, line));
  const std::string second(line == std::string_view::npos ? "" : text.substr(line + 1));

  const Labels node = {{std::string(strata::kGpuRegisterAnnotation), first},
                       {std::string(strata::kGpuScoreAnnotation), second}};
  const auto read = strata::ReadNodeGpus(node);
  CHECK(read.has_value());
  CHECK(read->node.problem.empty() || read->node.gpus.empty());
  CHECK(read->node.gpus.size() == read->node.scores.size() || !read->node.problem.empty());

  const Labels pod = {{std::string(strata::kGpuAllocatedAnnotation), first},
                      {std::string(strata::kMigAllocationsAnnotation), second}};
  strata::objects::PodSpec spec;
  spec.init_containers.resize(2);
  spec.init_containers[0].sidecar = true;
  spec.containers.resize(1);
  const strata::GpuClaim claim = strata::ReadGpuClaim(pod, spec).claim;
  if (claim.empty()) return 0;
  CHECK(strata::ReadGpuClaim(strata::WriteGpuClaim(claim, "n"), spec).claim.containers.size() ==
        claim.containers.size());
  std::vector<strata::GpuUsage> usage(read->node.gpus.size());
  strata::AddClaim(read->node, claim, usage);
  return 0;
}
