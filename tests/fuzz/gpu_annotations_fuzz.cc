// Any text in the GPU annotations gives GPUs and claims, or none and a sentence; a claim that was
// read is read back the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "convert/gpu_annotations.h"
#include "convert/gpu_dialect.h"

namespace {

void CheckNode(const strata::Labels& annotations) {
  const auto read = strata::ReadNodeGpus(annotations);
  CHECK(read.has_value());
  const strata::NodeGpus& node = read->node;
  const bool broken = !node.hami.problem.empty() || !node.volcano.problem.empty();
  CHECK(node.gpus.size() == node.scores.size() || (broken && node.gpus.empty()));
  CHECK(!broken || !node.hami.registered || !node.volcano.registered || !read->warnings.empty());
}

void CheckClaim(const strata::Labels& annotations,
                const strata::objects::PodSpec& spec,
                const strata::NodeGpus& node) {
  const strata::GpuClaim claim = strata::ReadGpuClaim(annotations, spec).claim;
  if (claim.empty()) return;
  CHECK(strata::ReadGpuClaim(strata::WriteGpuClaim(claim, "n"), spec).claim.containers.size() ==
        claim.containers.size());
  std::vector<strata::GpuUsage> usage(node.gpus.size());
  strata::AddClaim(node, claim, usage);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using strata::Labels;
  // Up to two lines of the input are the two annotations.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  const std::string first(text.substr(0, line));
  const std::string second(line == std::string_view::npos ? "" : text.substr(line + 1));

  const strata::GpuNames& hami = strata::NamesOf(strata::GpuDialect::kHami);
  const strata::GpuNames& volcano = strata::NamesOf(strata::GpuDialect::kVolcano);
  const Labels node = {{std::string(hami.registered), first},
                       {std::string(strata::kGpuScoreAnnotation), second}};
  CheckNode(node);
  CheckNode({{std::string(volcano.registered), first}});
  CheckNode({{std::string(hami.registered), first}, {std::string(volcano.registered), second}});

  strata::objects::PodSpec spec;
  spec.init_containers.resize(2);
  spec.init_containers[0].sidecar = true;
  spec.containers.resize(1);
  const auto read = strata::ReadNodeGpus(node);
  CheckClaim({{std::string(hami.allocated), first},
              {std::string(strata::kMigAllocationsAnnotation), second}},
             spec,
             read->node);
  spec.containers[0].requests.emplace(volcano.count, strata::Quantity::FromValue(1));
  CheckClaim({{std::string(volcano.allocated), first}}, spec, read->node);
  return 0;
}
