#include "convert/gpu_annotations.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "convert/gpu_dialect.h"
#include "convert/vgpu_register.h"
#include "json/dump.h"
#include "objects/cursor.h"
#include "objects/meta.h"

namespace strata {
namespace {

using objects::Cursor;
using objects::Document;
using objects::Find;
using objects::IntRange;
using objects::ReadLog;
using objects::Value;

// More than any machine has; what is beyond is a broken text, not a node.
constexpr std::size_t kMaxGpus = 1024;
constexpr IntRange kMemoryRange = {0, std::int64_t{1} << 40};
constexpr std::int64_t kMaxMigSlices = 64;                 // far beyond what a GPU has
constexpr std::int64_t kWholeGpu = std::int64_t{1} << 40;  // MiB
constexpr std::int64_t kAllCores = 100;                    // percent

// ---- nodes ----

void ReadPlacement(const Cursor& at, MigPlacement& out) {
  at.At("start").Read(out.start, {0, kMaxMigSlices});
  at.At("size").Read(out.size, {1, kMaxMigSlices});
}

void ReadProfile(const Cursor& at, MigProfile& out) {
  at.At("name").Read(out.name);
  at.At("memoryMB").Read(out.memory_mib, kMemoryRange);
  at.At("core").Read(out.cores, {0, 100});
  at.At("placements").ReadList(out.placements, ReadPlacement);
}

void ReadGpu(const Cursor& at, Gpu& out) {
  if (!at.present()) return at.Fail("want an object, found null");
  at.At("id").Required().Read(out.uuid);
  if (at.ok() && out.uuid.empty()) at.At("id").Fail("must not be empty");
  at.At("index").Read(out.index, objects::kCount32);
  at.At("count").Read(out.slots, objects::kCount32);
  at.At("devmem").Read(out.memory_mib, kMemoryRange);
  at.At("devcore").Read(out.cores, {0, 100'000});
  at.At("type").Read(out.type);
  at.At("numa").Read(out.numa);
  at.At("mode").Read(out.mode);
  at.At("health").Read(out.healthy);
  at.At("migProfiles").ReadList(out.mig_profiles, ReadProfile);
}

// The GPUs, or what is wrong with the text.
std::string ReadRegister(const std::string& text, std::vector<Gpu>& gpus) {
  const auto document = Document::ParseJson(text);
  if (!document) return document.error().message;
  ReadLog log;
  const Cursor root(document->root(), log);
  root.ReadList(gpus, ReadGpu);
  if (!log.error.empty()) return log.error;
  if (gpus.size() > kMaxGpus) return fmt::format("more than {} GPUs", kMaxGpus);
  std::sort(gpus.begin(), gpus.end(), [](const Gpu& a, const Gpu& b) {
    return std::tie(a.index, a.uuid) < std::tie(b.index, b.uuid);
  });
  std::vector<std::string_view> uuids;
  uuids.reserve(gpus.size());
  for (const Gpu& gpu : gpus) uuids.push_back(gpu.uuid);
  std::sort(uuids.begin(), uuids.end());
  const auto twice = std::adjacent_find(uuids.begin(), uuids.end());
  return twice == uuids.end() ? "" : fmt::format("duplicate GPU {}", *twice);
}

// A table row by row; what it says of GPUs that the node does not have is only counted.
class ScoreReader {
 public:
  explicit ScoreReader(const NodeGpus& node)
      : node_(node), directed_(node.gpus.size() * node.gpus.size()) {}

  // What is wrong with the text; "" when it could be read.
  std::string Read(const std::string& text) {
    const auto document = Document::ParseJson(text);
    if (!document) return document.error().message;
    ReadLog log;
    Cursor(document->root(), log).ForEach([&](const Cursor& row) { ReadRow(row); });
    return log.error;
  }
  void Forget() {
    std::fill(directed_.begin(), directed_.end(), std::nullopt);
    strangers_ = 0;
  }
  [[nodiscard]] PairScores Scores() const { return {node_.gpus.size(), directed_}; }
  [[nodiscard]] std::size_t strangers() const { return strangers_; }

 private:
  void ReadRow(const Cursor& row) {
    if (!row.present()) return row.Fail("want an object, found null");
    std::string uuid;
    row.At("uuid").Required().Read(uuid);
    const auto from = node_.Find(uuid);
    if (row.ok() && !from) ++strangers_;
    const Cursor scores = row.At("score");
    if (!scores.present()) return;
    scores.ForEachMember([&](std::string_view peer, const Cursor& score) {
      if (!score.present()) return;
      const Value::Type type = score.value().type();
      const bool huge = type == Value::Type::kNumber &&
                        score.value().NumberText().find_first_of(".eE") == std::string::npos;
      if (type != Value::Type::kInteger && !huge) {
        return score.Fail("want a whole number, found " + score.value().Describe());
      }
      if (from) Note(*from, std::string(peer), score.value());
    });
  }

  void Note(std::size_t from, const std::string& peer, const Value& value) {
    const auto to = node_.Find(peer);
    if (!to) {
      ++strangers_;
      return;
    }
    if (*to == from || value.type() != Value::Type::kInteger) return;
    const std::int64_t score = value.AsInteger();
    if (score < std::numeric_limits<std::int32_t>::min() ||
        score > std::numeric_limits<std::int32_t>::max()) {
      return;  // outside 32 bits: unknown
    }
    directed_[from * node_.gpus.size() + *to] = static_cast<std::int32_t>(score);
  }

  const NodeGpus& node_;
  std::vector<std::optional<std::int32_t>> directed_;
  std::size_t strangers_ = 0;
};

std::string NamePairs(const NodeGpus& node, const std::vector<PairScores::Pair>& pairs) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kShown, pairs.size()); ++i) {
    names.push_back(
        fmt::format("{}-{}", node.gpus[pairs[i].first].index, node.gpus[pairs[i].second].index));
  }
  return fmt::format("{}{}", fmt::join(names, ", "), pairs.size() > kShown ? ", ..." : "");
}

void ReadScores(const std::string* text, ReadGpus& out) {
  const std::size_t size = out.node.gpus.size();
  ScoreReader reader(out.node);
  if (text != nullptr) {
    const std::string error = reader.Read(*text);
    if (!error.empty()) {
      out.warnings.push_back(
          fmt::format("annotation {}: {}; GPU links are unknown", kGpuScoreAnnotation, error));
      reader.Forget();
    }
  }
  out.node.scores = reader.Scores();
  const PairScores& scores = out.node.scores;
  const auto warn = [&](std::string_view what) {
    out.warnings.push_back(fmt::format("annotation {}: {}", kGpuScoreAnnotation, what));
  };
  if (reader.strangers() > 0) {
    const bool one = reader.strangers() == 1;
    warn(fmt::format("{} for {} not registered {} ignored",
                     one ? "1 entry" : fmt::format("{} entries", reader.strangers()),
                     one ? "a GPU that is" : "GPUs that are",
                     one ? "is" : "are"));
  }
  const bool any_known = scores.unknown().size() < size * (size - 1) / 2;
  if (any_known && !scores.unknown().empty()) {
    warn(fmt::format("no score for GPU pairs {}; they count as the worst link of the node",
                     NamePairs(out.node, scores.unknown())));
  }
  if (!scores.asymmetric().empty()) {
    warn(fmt::format("scores of GPU pairs {} differ by direction; the lower one counts",
                     NamePairs(out.node, scores.asymmetric())));
  }
}

void ReadCordon(std::string_view text, ReadGpus& out) {
  for (const std::string_view part : Split(text, ',')) {
    const std::string uuid(Trim(part));
    if (uuid.empty()) continue;
    if (const auto at = out.node.Find(uuid)) {
      out.node.gpus[*at].cordoned = true;
    } else {
      out.warnings.push_back(
          fmt::format("annotation {}: GPU {} is not registered; the entry is ignored",
                      kGpuCordonAnnotation,
                      uuid));
    }
  }
}

// ---- pods ----

std::vector<GpuShare> ReadContainerShares(std::string_view text,
                                          std::string_view annotation,
                                          std::vector<std::string>& warnings) {
  std::vector<GpuShare> shares;
  for (const std::string_view item : Split(text, ':')) {
    if (Trim(item).empty()) continue;  // each item ends in ':'
    const auto warn = [&](std::string_view outcome) {
      warnings.push_back(fmt::format("annotation {}: want uuid,type,MiB,percent, found \"{}\"; {}",
                                     annotation,
                                     item,
                                     outcome));
    };
    const std::vector<std::string_view> fields = Split(item, ',');
    GpuShare share;
    share.uuid = std::string(Trim(fields[0]));
    if (share.uuid.empty()) {
      warn("it names no GPU and is ignored");
      continue;
    }
    const auto memory = fields.size() > 2 ? WholeNumber(fields[2], kWholeGpu) : std::nullopt;
    const auto cores = fields.size() > 3 ? WholeNumber(fields[3], kAllCores) : std::nullopt;
    const bool good = memory && cores;
    if (!good) warn("it counts as the whole GPU");
    share.memory_mib = good ? *memory : kWholeGpu;
    share.cores = static_cast<std::int32_t>(cores.value_or(kAllCores));
    shares.push_back(std::move(share));
  }
  return shares;
}

void ReadMigRecord(const Cursor& at, GpuClaim& claim) {
  std::int32_t container = 0;
  std::int32_t device = 0;
  GpuShare record;
  if (!at.present()) return at.Fail("want an object, found null");
  at.At("containerIndex").Read(container, objects::kCount32);
  at.At("deviceIndex").Read(device, objects::kCount32);
  at.At("gpuUUID").Read(record.uuid);
  at.At("profile").Required().Read(record.mig_profile);
  const Cursor placement = at.At("placement");
  ReadPlacement(placement.Required(), record.mig_placement);
  const auto c = static_cast<std::size_t>(container);
  const auto d = static_cast<std::size_t>(device);
  if (!at.ok()) return;
  if (c >= claim.containers.size() || d >= claim.containers[c].size()) {
    return at.Fail("names a device that the pod does not hold");
  }
  claim.containers[c][d].mig_profile = record.mig_profile;
  claim.containers[c][d].mig_placement = record.mig_placement;
}

void ReadMigRecords(const std::string& text, ReadClaim& out) {
  std::string error;
  if (const auto document = Document::ParseJson(text)) {
    ReadLog log;
    Cursor(document->root(), log).ForEach([&](const Cursor& at) { ReadMigRecord(at, out.claim); });
    error = log.error;
  } else {
    error = document.error().message;
  }
  if (!error.empty()) {
    out.warnings.push_back(fmt::format("annotation {}: {}", kMigAllocationsAnnotation, error));
  }
}

// "" when no container has an instance.
std::string MigRecords(const GpuClaim& claim) {
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
  for (std::size_t c = 0; c < claim.containers.size(); ++c) {
    for (std::size_t d = 0; d < claim.containers[c].size(); ++d) {
      const GpuShare& share = claim.containers[c][d];
      if (share.mig_profile.empty()) continue;
      const MigPlacement& placement = share.mig_placement;
      records.push_back({{"containerIndex", c},
                         {"deviceIndex", d},
                         {"gpuUUID", share.uuid},
                         {"profile", share.mig_profile},
                         {"placement", {{"start", placement.start}, {"size", placement.size}}}});
    }
  }
  if (records.empty()) return "";
  return DumpJson(records);
}

// Notes in `offer` what is wrong with what the node registers.
void Withdraw(GpuOffer& offer, std::string problem, std::vector<std::string>& warnings) {
  offer.problem = std::move(problem);
  warnings.push_back(offer.problem + "; the node offers no GPUs");
}

void TakeRegister(const std::string& text, ReadGpus& out) {
  const std::string error = ReadRegister(text, out.node.gpus);
  if (error.empty()) return;
  out.node.gpus.clear();
  Withdraw(out.node.hami,
           fmt::format("annotation {}: {}", NamesOf(GpuDialect::kHami).registered, error),
           out.warnings);
}

// `allocatable`, if not null, is what the kubelet hands out.
void TakeVgpuRegister(const std::string& text,
                      const objects::ResourceList* allocatable,
                      ReadGpus& out) {
  const std::string_view annotation = NamesOf(GpuDialect::kVolcano).registered;
  std::vector<Gpu> vgpus;
  std::string error = ReadVgpuRegister(text, vgpus);
  if (vgpus.size() > kMaxGpus) error = fmt::format("more than {} GPUs", kMaxGpus);
  if (!error.empty()) {
    return Withdraw(
        out.node.volcano, fmt::format("annotation {}: {}", annotation, error), out.warnings);
  }
  // No warning: the agent may be starting.
  if (allocatable != nullptr) out.node.volcano.problem = WhyNotHandedOut(*allocatable);
  if (out.node.volcano.problem.empty()) AddVgpus(std::move(vgpus), out.node.gpus, out.warnings);
}

std::optional<ReadGpus> ReadGpusOf(const Labels& annotations,
                                   const objects::ResourceList* allocatable) {
  const std::string* hami = Find(annotations, NamesOf(GpuDialect::kHami).registered);
  const std::string* volcano = Find(annotations, NamesOf(GpuDialect::kVolcano).registered);
  if (hami == nullptr && volcano == nullptr) return std::nullopt;
  ReadGpus out;
  out.node.hami.registered = hami != nullptr;
  out.node.volcano.registered = volcano != nullptr;
  if (hami != nullptr) TakeRegister(*hami, out);
  if (volcano != nullptr) TakeVgpuRegister(*volcano, allocatable, out);
  const bool broken = !out.node.hami.problem.empty() || !out.node.volcano.problem.empty();
  if (out.node.gpus.empty() && broken) return out;
  if (const std::string* cordon = Find(annotations, kGpuCordonAnnotation)) {
    ReadCordon(*cordon, out);
  }
  ReadScores(Find(annotations, kGpuScoreAnnotation), out);
  return out;
}

// Which slots of a claim belong to init containers. Texts that have lost the slots of containers
// without GPUs are those of the last containers.
void MarkInitContainers(const objects::PodSpec& spec, GpuClaim& claim) {
  const std::size_t size = claim.containers.size();
  const std::size_t all = spec.init_containers.size() + spec.containers.size();
  for (std::size_t i = 0, c = all - std::min(all, size); i < size; ++i, ++c) {
    if (c >= spec.init_containers.size()) break;
    if (!spec.init_containers[c].sidecar) claim.init_containers.push_back(i);
  }
}

}  // namespace

std::optional<ReadGpus> ReadNodeGpus(const Labels& annotations) {
  return ReadGpusOf(annotations, nullptr);
}

std::optional<ReadGpus> ReadNodeGpus(const objects::Node& node) {
  return ReadGpusOf(node.meta.annotations, &node.allocatable);
}

ReadClaim ReadGpuClaim(const Labels& annotations, const objects::PodSpec& spec) {
  ReadClaim out;
  const bool volcano = NamesGpus(spec, NamesOf(GpuDialect::kVolcano));
  const GpuNames& names = NamesOf(volcano ? GpuDialect::kVolcano : GpuDialect::kHami);
  const std::string* text = Find(annotations, names.allocated);
  if (text == nullptr || text->empty()) return out;
  std::vector<std::string_view> slots = Split(*text, ';');
  if (!volcano && slots.back().empty()) slots.pop_back();  // in HAMi's each slot ends in ';'
  for (const std::string_view slot : slots) {
    out.claim.containers.push_back(ReadContainerShares(slot, names.allocated, out.warnings));
  }
  const auto holds = [](const auto& shares) { return !shares.empty(); };
  if (std::none_of(out.claim.containers.begin(), out.claim.containers.end(), holds)) {
    out.claim = {};
    return out;
  }
  out.claim.dialect = names.dialect;
  if (volcano) return out;
  MarkInitContainers(spec, out.claim);
  if (const std::string* mig = Find(annotations, kMigAllocationsAnnotation)) {
    ReadMigRecords(*mig, out);
  }
  return out;
}

Labels WriteGpuClaim(const GpuClaim& claim, std::string_view node) {
  const GpuNames& names = NamesOf(claim.dialect);
  std::vector<std::string> slots;
  for (const auto& shares : claim.containers) {
    std::string& slot = slots.emplace_back();
    for (const GpuShare& share : shares) {
      slot += fmt::format("{},NVIDIA,{},{}:", share.uuid, share.memory_mib, share.cores);
    }
  }
  std::string text = fmt::format("{}", fmt::join(slots, ";"));
  const bool ends = claim.dialect == GpuDialect::kHami;  // there each slot ends in ';'
  if (ends && !slots.empty()) text += ';';
  Labels annotations;
  annotations.emplace(names.node, node);
  annotations.emplace(names.allocated, text);
  annotations.emplace(names.to_allocate, text);
  if (std::string records = MigRecords(claim); !records.empty()) {
    annotations.emplace(kMigAllocationsAnnotation, std::move(records));
  }
  return annotations;
}

void EraseGpuClaim(Labels& annotations) {
  for (const GpuDialect dialect : kGpuDialects) {
    const GpuNames& names = NamesOf(dialect);
    for (const std::string_view key : {names.node, names.allocated, names.to_allocate}) {
      annotations.erase(std::string(key));
    }
  }
  annotations.erase(std::string(kMigAllocationsAnnotation));
}

}  // namespace strata
