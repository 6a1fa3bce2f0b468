#include "agent/gpu_record.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "agent/record_names.h"
#include "base/ascii.h"
#include "base/plural.h"
#include "convert/gpu_annotations.h"
#include "objects/meta.h"

namespace strata::agent {
namespace {

constexpr std::size_t kMaxRecordBytes = std::size_t{64} * 1024;
constexpr std::size_t kMaxShares = 1024;  // of one container

const std::string& TextOf(const KnownPod& pod, std::string_view key) {
  static const std::string none;
  const std::string* text = objects::Find(pod.annotations, key);
  return text == nullptr ? none : *text;
}

// For each slot of the text the container that it is for; none if that cannot be said.
// `filled[i]`: slot i names GPUs.
std::optional<std::vector<std::size_t>> ContainersOfSlots(const KnownPod& pod,
                                                          const std::vector<bool>& filled) {
  std::vector<std::size_t> positions;
  if (filled.size() == pod.containers.size()) {
    for (std::size_t i = 0; i < filled.size(); ++i) positions.push_back(i);
    return positions;
  }
  std::vector<std::size_t> with_gpus;
  for (std::size_t i = 0; i < pod.containers.size(); ++i) {
    if (pod.containers[i].gpus > 0) with_gpus.push_back(i);
  }
  const auto slots = static_cast<std::size_t>(std::count(filled.begin(), filled.end(), true));
  if (slots != with_gpus.size()) return std::nullopt;
  std::size_t next = 0;
  for (const bool has_gpus : filled) {
    positions.push_back(has_gpus ? with_gpus[next++] : pod.containers.size());
  }
  return positions;
}

std::string ProblemOfShares(const std::vector<GpuShare>& shares, const NodeGpus& gpus) {
  if (shares.size() > kMaxShares) return "names too many GPUs";
  for (const GpuShare& share : shares) {
    if (!gpus.Find(share.uuid)) {
      return fmt::format("names {}, which this node does not have", share.uuid.substr(0, 64));
    }
    if (!share.mig_profile.empty()) return "has MIG instances, which are not supported";
  }
  return "";
}

std::string ReadSlots(const KnownPod& pod, const NodeGpus& gpus, GpuRecord& record) {
  const GpuClaim claim = ReadGpuClaim(pod.annotations, objects::PodSpec()).claim;
  std::vector<bool> filled;
  for (const auto& shares : claim.containers) filled.push_back(!shares.empty());
  const auto positions = ContainersOfSlots(pod, filled);
  if (!positions) {
    return fmt::format("has slots for {}, which does not fit the {} of the pod",
                       Plural(filled.size(), "container"),
                       Plural(pod.containers.size(), "container"));
  }
  for (std::size_t i = 0; i < filled.size(); ++i) {
    if (!filled[i]) continue;
    std::string problem = ProblemOfShares(claim.containers[i], gpus);
    if (!problem.empty()) return problem;
    record.containers[(*positions)[i]] = claim.containers[i];
  }
  return "";
}

}  // namespace

GpuRecord ReadGpuRecord(const KnownPod& pod, std::string_view node, const NodeGpus& gpus) {
  GpuRecord record;
  record.containers.resize(pod.containers.size());
  const std::string& text = TextOf(pod, RecordNames().allocated);
  if (text.empty()) return record;
  record.present = true;
  const std::string& meant_for = TextOf(pod, RecordNames().node);
  if (meant_for != node) {
    record.problem = fmt::format("is for node \"{}\"", meant_for.substr(0, 253));
  } else if (text.size() > kMaxRecordBytes) {
    record.problem = fmt::format("has more than {} bytes", kMaxRecordBytes);
  } else {
    record.problem = ReadSlots(pod, gpus, record);
  }
  return record;
}

std::vector<std::string> UuidsOf(const std::vector<GpuShare>& shares) {
  std::vector<std::string> uuids;
  uuids.reserve(shares.size());
  for (const GpuShare& share : shares) uuids.push_back(share.uuid);
  return uuids;
}

std::string BlankSlots(const KnownPod& pod, const std::vector<bool>& served) {
  const std::string& text = TextOf(pod, RecordNames().allocated);
  std::vector<std::string_view> slots = Split(text, ';');
  if (slots.back().empty()) slots.pop_back();  // each slot ends in ';'
  std::vector<bool> filled;
  filled.reserve(slots.size());
  for (const std::string_view slot : slots) filled.push_back(!Trim(slot).empty());
  const auto positions = ContainersOfSlots(pod, filled);
  std::string left;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::size_t container = positions ? (*positions)[i] : served.size();
    if (container >= served.size() || !served[container]) left += slots[i];
    left += ';';
  }
  return left;
}

}  // namespace strata::agent
