#include "agent/admission.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/device_ids.h"
#include "agent/gpu_record.h"
#include "agent/record_names.h"
#include "base/plural.h"
#include "objects/meta.h"

namespace strata::agent {
namespace {

constexpr std::size_t kMaxNamed = 3;  // pods in one message

// A container that waits, or that was served before.
struct Candidate {
  std::size_t pod = 0;
  std::size_t container = 0;
  GpuRecord record;
  std::string problem;  // why it cannot be the one, "" if it can

  [[nodiscard]] const std::vector<GpuShare>& shares() const { return record.containers[container]; }
};

// Sorted; an id of an unknown GPU stands for itself.
std::vector<std::string> UuidsOfIds(const NodeGpus& gpus, std::span<const std::string> ids) {
  std::vector<std::string> uuids;
  for (const std::string& id : ids) {
    const auto gpu = GpuOfId(gpus, id);
    uuids.push_back(gpu ? gpus.gpus[*gpu].uuid : id);
  }
  std::sort(uuids.begin(), uuids.end());
  return uuids;
}

std::vector<std::string> Sorted(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  return texts;
}

bool SaysServed(const KnownPod& pod) {
  const std::string* phase = objects::Find(pod.annotations, RecordNames().bind_phase);
  return phase != nullptr && *phase == "success";
}

// Containers are served in their order: what is before one that was served was served, too, also
// where the journal was rebuilt and podresources no longer shows it.
std::optional<std::size_t> NextUnserved(const KnownPod& pod, const Journal& journal) {
  for (std::size_t i = pod.containers.size(); i-- > 0;) {
    if (journal.Find(pod.uid, pod.containers[i].name) == nullptr) continue;
    for (std::size_t next = i + 1; next < pod.containers.size(); ++next) {
      if (pod.containers[next].gpus > 0) return next;
    }
    return std::nullopt;
  }
  if (SaysServed(pod) || pod.phase == objects::PodPhase::kRunning) return std::nullopt;
  for (std::size_t i = 0; i < pod.containers.size(); ++i) {
    if (pod.containers[i].gpus > 0) return i;
  }
  return std::nullopt;
}

class Chooser {
 public:
  Chooser(const AdmissionInput& input, std::size_t count) : input_(input), count_(count) {
    for (const std::size_t pod : OldestFirst()) {
      const auto next = NextUnserved(input.pods[pod], input.journal);
      if (next) AddWaiting(pod, *next);
      AddServed(pod, next.value_or(input.pods[pod].containers.size()));
    }
  }

  [[nodiscard]] const std::vector<Candidate>& waiting() const { return waiting_; }
  [[nodiscard]] const std::vector<Candidate>& served() const { return served_; }
  [[nodiscard]] const std::vector<Candidate>& unfit() const { return unfit_; }

 private:
  [[nodiscard]] std::vector<std::size_t> OldestFirst() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < input_.pods.size(); ++i) {
      const KnownPod& pod = input_.pods[i];
      if (pod.Ended()) continue;
      if (input_.lock_owner && !AgreesWithLock(pod)) continue;
      order.push_back(i);
    }
    const auto key = [this](std::size_t i) {
      const KnownPod& pod = input_.pods[i];
      return std::tie(pod.created, pod.ns, pod.name, pod.uid);
    };
    std::sort(
        order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    return order;
  }

  [[nodiscard]] bool AgreesWithLock(const KnownPod& pod) const {
    if (!input_.lock_owner->empty()) return *input_.lock_owner == pod.FullName();
    return objects::Find(pod.annotations, RecordNames().allocated) == nullptr;
  }

  [[nodiscard]] Candidate Make(std::size_t pod, std::size_t container) const {
    const KnownPod& known = input_.pods[pod];
    Candidate candidate{.pod = pod,
                        .container = container,
                        .record = ReadGpuRecord(known, input_.node, input_.gpus),
                        .problem = ""};
    const auto asked = static_cast<std::size_t>(known.containers[container].gpus);
    const std::size_t recorded = candidate.shares().size();
    if (asked != count_) {
      candidate.problem = fmt::format("it needs {}", Plural(asked, "GPU"));
    } else if (!candidate.record.problem.empty()) {
      candidate.problem = "its record " + candidate.record.problem;
    } else if (candidate.record.present && recorded != count_) {
      candidate.problem = fmt::format("its record has {}", recorded);
    }
    return candidate;
  }

  void AddWaiting(std::size_t pod, std::size_t container) {
    Candidate candidate = Make(pod, container);
    (candidate.problem.empty() ? waiting_ : unfit_).push_back(std::move(candidate));
  }

  void AddServed(std::size_t pod, std::size_t end) {
    for (std::size_t i = 0; i < end; ++i) {
      if (input_.pods[pod].containers[i].gpus == 0) continue;
      Candidate candidate = Make(pod, i);
      if (candidate.problem.empty()) served_.push_back(std::move(candidate));
    }
  }

  const AdmissionInput& input_;
  const std::size_t count_;
  std::vector<Candidate> waiting_;  // by age
  std::vector<Candidate> served_;
  std::vector<Candidate> unfit_;  // they wait, but cannot be meant
};

// The GPUs by which a candidate is recognised; empty when nothing is known.
std::vector<std::string> KnownUuids(const AdmissionInput& input, const Candidate& candidate) {
  if (candidate.record.present) return UuidsOf(candidate.shares());
  const KnownPod& pod = input.pods[candidate.pod];
  const JournalEntry* entry = input.journal.Find(pod.uid, pod.containers[candidate.container].name);
  return entry == nullptr ? std::vector<std::string>() : entry->uuids;
}

const Candidate* FindByUuids(const AdmissionInput& input,
                             const std::vector<Candidate>& candidates,
                             const std::vector<std::string>& uuids) {
  for (const Candidate& candidate : candidates) {
    if (Sorted(KnownUuids(input, candidate)) == uuids) return &candidate;
  }
  return nullptr;
}

// Without a record: the GPUs of the ids, in the order of the node, each whole.
std::optional<std::vector<GpuShare>> SharesOfIds(const NodeGpus& gpus,
                                                 std::span<const std::string> ids) {
  std::set<std::size_t> positions;
  for (const std::string& id : ids) {
    const auto gpu = GpuOfId(gpus, id);
    if (!gpu) return std::nullopt;
    positions.insert(*gpu);
  }
  std::vector<GpuShare> shares;
  for (const std::size_t position : positions) {
    const Gpu& gpu = gpus.gpus[position];
    GpuShare& share = shares.emplace_back();
    share.uuid = gpu.uuid;
    share.memory_mib = gpu.memory_mib;
    share.cores = gpu.cores;
  }
  return shares;
}

std::string Asked(std::span<const std::string> ids) {
  return fmt::format("asked for {} ({})",
                     Plural(ids.size(), "GPU"),
                     fmt::join(ids.first(std::min<std::size_t>(ids.size(), 16)), ", "));
}

std::string NameOf(const AdmissionInput& input, const Candidate& candidate) {
  const KnownPod& pod = input.pods[candidate.pod];
  return fmt::format(
      "pod {}, container {}", pod.FullName(), pod.containers[candidate.container].name);
}

AdmissionRefusal RefuseOne(const AdmissionInput& input,
                           const Candidate& candidate,
                           std::span<const std::string> ids,
                           const std::string& found) {
  return {.reason = fmt::format("{}: {}, found: {}", NameOf(input, candidate), Asked(ids), found),
          .pod = candidate.pod};
}

AdmissionRefusal RefuseAll(const AdmissionInput& input,
                           const Chooser& chooser,
                           std::span<const std::string> ids) {
  const std::vector<Candidate>& unfit = chooser.unfit();
  const bool is_meant = unfit.size() == 1 && chooser.served().empty();
  if (is_meant) return RefuseOne(input, unfit[0], ids, unfit[0].problem);
  std::vector<std::string> found;
  for (const Candidate& candidate : unfit) {
    if (found.size() == kMaxNamed) break;
    found.push_back(fmt::format("{}: {}", NameOf(input, candidate), candidate.problem));
  }
  if (unfit.size() > kMaxNamed) found.push_back(fmt::format("{} more", unfit.size() - kMaxNamed));
  std::string among = found.empty() ? "none" : fmt::format("{}", fmt::join(found, "; "));
  if (input.lock_owner && input.lock_owner->empty()) among += " (the Node has no lock)";
  if (input.lock_owner && !input.lock_owner->empty()) {
    among += fmt::format(" (the lock names {})", *input.lock_owner);
  }
  if (chooser.served().size() > 1) among += "; several containers that were served before";
  return {
      .reason = fmt::format(
          "no pod on node {} waits for these GPUs: {}, found: {}", input.node, Asked(ids), among),
      .pod = std::nullopt};
}

const Gpu* UnhealthyOf(const NodeGpus& gpus, const std::vector<GpuShare>& shares) {
  for (const GpuShare& share : shares) {
    const auto gpu = gpus.Find(share.uuid);
    if (gpu && !gpus.gpus[*gpu].healthy) return &gpus.gpus[*gpu];
  }
  return nullptr;
}

// A GPU of the record that is full of containers of other pods. A record is a text that users can
// write; where the kubelet counts the container on other GPUs, it does not prove that the scheduler
// chose these.
const Gpu* HeldByOthers(const AdmissionInput& input, const AdmittedSlot& slot) {
  const std::string& own = input.pods[slot.pod].uid;
  std::set<std::string> others;
  for (const KnownPod& pod : input.pods) {
    if (pod.uid != own && !pod.Ended()) others.insert(pod.uid);
  }
  for (const GpuShare& share : slot.shares) {
    const auto at = input.gpus.Find(share.uuid);
    if (!at) continue;
    std::int64_t holders = 0;
    for (const auto& [key, entry] : input.journal.entries()) {
      const auto& uuids = entry.uuids;
      const bool holds = std::find(uuids.begin(), uuids.end(), share.uuid) != uuids.end();
      if (holds && others.contains(key.first)) ++holders;
    }
    if (holders >= std::max(1, input.gpus.gpus[*at].slots)) return &input.gpus.gpus[*at];
  }
  return nullptr;
}

tl::expected<AdmittedSlot, AdmissionRefusal> Give(const AdmissionInput& input,
                                                  const Candidate& candidate,
                                                  std::span<const std::string> ids) {
  AdmittedSlot slot;
  slot.pod = candidate.pod;
  slot.container = candidate.container;
  slot.has_record = candidate.record.present;
  if (slot.has_record) {
    slot.shares = candidate.shares();
    slot.ids_differ = Sorted(UuidsOf(slot.shares)) != UuidsOfIds(input.gpus, ids);
  } else if (auto shares = SharesOfIds(input.gpus, ids)) {
    slot.shares = std::move(*shares);
  } else {
    return tl::unexpected(
        RefuseOne(input, candidate, ids, "an id of a GPU this node does not have"));
  }
  if (const Gpu* gpu = slot.ids_differ ? HeldByOthers(input, slot) : nullptr) {
    return tl::unexpected(
        RefuseOne(input,
                  candidate,
                  ids,
                  fmt::format("its record names {}, which other pods hold", gpu->uuid)));
  }
  if (const Gpu* gpu = UnhealthyOf(input.gpus, slot.shares)) {
    return tl::unexpected(
        RefuseOne(input, candidate, ids, fmt::format("{} is not healthy", gpu->uuid)));
  }
  return slot;
}

}  // namespace

tl::expected<AdmittedSlot, AdmissionRefusal> Admit(const AdmissionInput& input,
                                                   std::span<const std::string> ids) {
  const Chooser chooser(input, ids.size());
  const std::vector<std::string> uuids = UuidsOfIds(input.gpus, ids);
  if (!chooser.waiting().empty()) {
    const Candidate* chosen = FindByUuids(input, chooser.waiting(), uuids);
    auto slot = Give(input, chosen == nullptr ? chooser.waiting()[0] : *chosen, ids);
    if (slot) slot->ambiguous = chooser.waiting().size() > 1;
    return slot;
  }
  // Nobody waits: the kubelet may have lost what it knew, and asks again.
  const Candidate* chosen = FindByUuids(input, chooser.served(), uuids);
  if (chosen == nullptr && chooser.unfit().empty() && chooser.served().size() == 1) {
    chosen = &chooser.served()[0];
  }
  if (chosen == nullptr) return tl::unexpected(RefuseAll(input, chooser, ids));
  auto slot = Give(input, *chosen, ids);
  if (slot) slot->again = true;
  return slot;
}

WantedGpus WantedBy(const AdmissionInput& input,
                    std::size_t count,
                    std::span<const std::string> available_ids) {
  const Chooser chooser(input, count);
  if (!chooser.waiting().empty()) {
    return {.uuids = UuidsOf(chooser.waiting()[0].shares()), .ids = {}};
  }
  const std::set<std::string_view> available(available_ids.begin(), available_ids.end());
  for (const Candidate& candidate : chooser.served()) {
    const KnownPod& pod = input.pods[candidate.pod];
    const JournalEntry* entry =
        input.journal.Find(pod.uid, pod.containers[candidate.container].name);
    if (entry == nullptr) continue;
    const bool forgotten = std::all_of(entry->ids.begin(), entry->ids.end(), [&](const auto& id) {
      return available.contains(id);
    });
    if (forgotten) return {.uuids = entry->uuids, .ids = entry->ids};
  }
  return {};
}

}  // namespace strata::agent
