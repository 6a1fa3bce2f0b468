#include "convert/vgpu_register.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "convert/gpu_dialect.h"

namespace strata {
namespace {

constexpr std::int32_t kCoresOfVgpu = 100;
constexpr std::int64_t kMaxVgpuShares = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMaxVgpuMemory = std::int64_t{1} << 40;  // MiB

std::optional<bool> ReadHealth(std::string_view text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return std::nullopt;
}

// None: the item is not a GPU.
std::optional<Gpu> ReadVgpu(std::string_view item) {
  const std::vector<std::string_view> fields = Split(item, ',');
  if (fields.size() < 6) return std::nullopt;
  const auto shares = WholeNumber(Trim(fields[1]), kMaxVgpuShares);
  const auto memory = WholeNumber(Trim(fields[2]), kMaxVgpuMemory);
  const auto health = ReadHealth(Trim(fields[4]));
  Gpu gpu;
  gpu.uuid = std::string(Trim(fields[0]));
  if (gpu.uuid.empty() || !shares || !memory || !health) return std::nullopt;
  gpu.slots = static_cast<std::int32_t>(*shares);
  gpu.memory_mib = *memory;
  gpu.cores = kCoresOfVgpu;
  gpu.type = std::string(Trim(fields[3]));
  gpu.healthy = *health;
  gpu.mode = std::string(Trim(fields[5]));
  if (gpu.mode.empty()) gpu.mode = "hami-core";
  gpu.in_hami = false;
  gpu.in_volcano = true;
  return gpu;
}

std::string AmountsOf(const Gpu& gpu) {
  return fmt::format("{} shares and {} MiB", gpu.slots, gpu.memory_mib);
}

}  // namespace

std::string ReadVgpuRegister(std::string_view text, std::vector<Gpu>& gpus) {
  for (const std::string_view item : Split(text, ':')) {
    if (Trim(item).empty()) continue;  // each item ends in ':'
    std::optional<Gpu> gpu = ReadVgpu(item);
    if (!gpu) return fmt::format("want uuid,shares,MiB,model,health,mode, found \"{}\"", item);
    const auto same = [&](const Gpu& other) { return other.uuid == gpu->uuid; };
    if (std::any_of(gpus.begin(), gpus.end(), same)) return "duplicate GPU " + gpu->uuid;
    gpu->index = static_cast<std::int32_t>(gpus.size());
    gpus.push_back(*std::move(gpu));
  }
  return gpus.empty() ? "no GPU in it" : "";
}

std::string WhyNotHandedOut(const objects::ResourceList& allocatable) {
  const GpuNames& names = NamesOf(GpuDialect::kVolcano);
  for (const std::string_view name : std::array{names.count, names.memory, names.cores}) {
    const auto it = allocatable.find(name);
    if (it == allocatable.end() || it->second.IsZero()) {
      return fmt::format("status.allocatable has no {}", name);
    }
  }
  return "";
}

void AddVgpus(std::vector<Gpu> vgpus, std::vector<Gpu>& gpus, std::vector<std::string>& warnings) {
  for (Gpu& vgpu : vgpus) {
    const auto known = std::find_if(
        gpus.begin(), gpus.end(), [&](const Gpu& gpu) { return gpu.uuid == vgpu.uuid; });
    if (known == gpus.end()) {
      gpus.push_back(std::move(vgpu));
      continue;
    }
    known->in_volcano = true;
    known->healthy = known->healthy && vgpu.healthy;
    if (known->slots == vgpu.slots && known->memory_mib == vgpu.memory_mib) continue;
    warnings.push_back(
        fmt::format("GPU {} has {} in annotation {} and {} in {}; the smaller amounts "
                    "count",
                    vgpu.uuid,
                    AmountsOf(*known),
                    NamesOf(GpuDialect::kHami).registered,
                    AmountsOf(vgpu),
                    NamesOf(GpuDialect::kVolcano).registered));
    known->slots = std::min(known->slots, vgpu.slots);
    known->memory_mib = std::min(known->memory_mib, vgpu.memory_mib);
  }
  std::sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) {
    return std::tie(a.index, a.uuid) < std::tie(b.index, b.uuid);
  });
}

}  // namespace strata
