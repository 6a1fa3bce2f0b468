#include "agent/reconcile.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/device_ids.h"
#include "agent/gpu_record.h"
#include "agent/record_names.h"
#include "convert/gpu_annotations.h"

namespace strata::agent {
namespace {

std::vector<std::string> SortedIds(std::vector<std::string> ids) {
  std::sort(ids.begin(), ids.end());
  return ids;
}

const KnownPod* PodOf(std::span<const KnownPod> pods, const HeldDevices& held) {
  for (const KnownPod& pod : pods) {
    if (pod.ns == held.ns && pod.name == held.pod && !pod.Ended()) return &pod;
  }
  return nullptr;
}

std::optional<std::size_t> PositionOf(const KnownPod& pod, const std::string& container) {
  for (std::size_t i = 0; i < pod.containers.size(); ++i) {
    if (pod.containers[i].name == container) return i;
  }
  return std::nullopt;
}

// A container whose ids are not those of its entry.
struct Mismatch {
  const KnownPod* pod = nullptr;
  JournalEntry entry;
  std::vector<std::string> held;  // sorted
};

class Reconciler {
 public:
  explicit Reconciler(const ReconcileInput& input) : input_(input) {
    result_.journal = input.journal;
  }

  Reconciliation Run() && {
    DropEnded();
    for (const HeldDevices& held : input_.held) {
      if (!held.ids.empty()) Compare(held);
    }
    CorrectSwaps();
    for (const Mismatch& mismatch : mismatches_) {
      Note(Difference::Kind::kOther,
           *mismatch.pod,
           fmt::format("container {}: the kubelet shows devices {}, but asked for {}",
                       mismatch.entry.container,
                       fmt::join(mismatch.held, ", "),
                       fmt::join(mismatch.entry.ids, ", ")));
    }
    WriteCorrections();
    return std::move(result_);
  }

 private:
  void DropEnded() {
    std::set<std::string> known;
    for (const KnownPod& pod : input_.pods) {
      if (!pod.Ended()) known.insert(pod.uid);
    }
    for (const auto& [key, entry] : input_.journal.entries()) {
      if (input_.now - entry.served < kSettling) known.insert(entry.uid);
    }
    result_.journal.KeepOnly(known);
  }

  void Compare(const HeldDevices& held) {
    const KnownPod* pod = PodOf(input_.pods, held);
    if (pod == nullptr) return;
    const JournalEntry* entry = result_.journal.Find(pod->uid, held.container);
    if (entry == nullptr) return Adopt(*pod, held);
    std::vector<std::string> ids = SortedIds(held.ids);
    if (ids == SortedIds(entry->ids) || input_.now - entry->served < kSettling) return;
    mismatches_.push_back({.pod = pod, .entry = *entry, .held = std::move(ids)});
  }

  void Adopt(const KnownPod& pod, const HeldDevices& held) {
    JournalEntry entry{.uid = pod.uid,
                       .ns = pod.ns,
                       .pod = pod.name,
                       .container = held.container,
                       .uuids = UuidsHeld(pod, held),
                       .ids = held.ids,
                       .served = input_.now};
    Note(Difference::Kind::kUnknown,
         pod,
         fmt::format("container {} holds devices {}, which the journal does not have; added",
                     held.container,
                     fmt::join(held.ids, ", ")));
    result_.journal.Put(std::move(entry));
  }

  [[nodiscard]] std::vector<std::string> UuidsHeld(const KnownPod& pod,
                                                   const HeldDevices& held) const {
    std::vector<std::string> uuids;
    const GpuRecord record = ReadGpuRecord(pod, input_.node, input_.gpus);
    const auto at = PositionOf(pod, held.container);
    if (record.present && record.problem.empty() && at &&
        record.containers[*at].size() == held.ids.size()) {
      return UuidsOf(record.containers[*at]);
    }
    for (const std::string& id : held.ids) {
      const auto gpu = GpuOfId(input_.gpus, id);
      uuids.push_back(gpu ? input_.gpus.gpus[*gpu].uuid : std::string(PhysicalId(id)));
    }
    return uuids;
  }

  void CorrectSwaps() {
    for (std::size_t i = 0; i < mismatches_.size(); ++i) {
      for (std::size_t j = i + 1; j < mismatches_.size(); ++j) {
        if (!HoldEachOthers(mismatches_[i], mismatches_[j])) continue;
        Exchange(mismatches_[i], mismatches_[j]);
        mismatches_.erase(mismatches_.begin() + static_cast<std::ptrdiff_t>(j));
        mismatches_.erase(mismatches_.begin() + static_cast<std::ptrdiff_t>(i));
        --i;
        break;
      }
    }
  }

  static bool HoldEachOthers(const Mismatch& a, const Mismatch& b) {
    return a.pod != b.pod && a.held == SortedIds(b.entry.ids) && b.held == SortedIds(a.entry.ids);
  }

  void Exchange(const Mismatch& a, const Mismatch& b) {
    PutWithSetOf(a, b);
    PutWithSetOf(b, a);
    ExchangeRecords(a, b);
  }

  void PutWithSetOf(const Mismatch& owner, const Mismatch& other) {
    JournalEntry entry = owner.entry;
    entry.uuids = other.entry.uuids;
    entry.ids = other.entry.ids;
    result_.journal.Put(std::move(entry));
    Note(Difference::Kind::kSwapped,
         *owner.pod,
         fmt::format("container {} holds the GPUs that were meant for pod {}; both records are "
                     "corrected",
                     owner.entry.container,
                     other.pod->FullName()));
  }

  void ExchangeRecords(const Mismatch& a, const Mismatch& b) {
    const auto slot = [this](const Mismatch& mismatch) -> std::vector<GpuShare>* {
      const auto at = PositionOf(*mismatch.pod, mismatch.entry.container);
      GpuRecord& record = RecordOf(*mismatch.pod);
      return at && record.present && record.problem.empty() ? &record.containers[*at] : nullptr;
    };
    std::vector<GpuShare>* first = slot(a);
    std::vector<GpuShare>* second = slot(b);
    if (first == nullptr || second == nullptr || *first == *second) return;
    std::swap(*first, *second);
    changed_.insert(a.pod);
    changed_.insert(b.pod);
  }

  GpuRecord& RecordOf(const KnownPod& pod) {
    const auto [at, added] = records_.try_emplace(&pod);
    if (added) at->second = ReadGpuRecord(pod, input_.node, input_.gpus);
    return at->second;
  }

  void WriteCorrections() {
    for (const KnownPod& pod : input_.pods) {
      if (!changed_.contains(&pod)) continue;
      GpuClaim claim;
      claim.containers = records_[&pod].containers;
      Labels annotations = WriteGpuClaim(claim, input_.node);
      annotations.erase(std::string(RecordNames().node));         // unchanged
      annotations.erase(std::string(RecordNames().to_allocate));  // nothing is left to allocate
      result_.corrections.push_back(
          {.uid = pod.uid, .ns = pod.ns, .pod = pod.name, .annotations = std::move(annotations)});
    }
  }

  void Note(Difference::Kind kind, const KnownPod& pod, std::string message) {
    result_.differences.push_back({.kind = kind,
                                   .uid = pod.uid,
                                   .ns = pod.ns,
                                   .pod = pod.name,
                                   .message = std::move(message)});
  }

  const ReconcileInput& input_;
  Reconciliation result_;
  std::vector<Mismatch> mismatches_;
  std::map<const KnownPod*, GpuRecord> records_;
  std::set<const KnownPod*> changed_;
};

}  // namespace

Reconciliation Reconcile(const ReconcileInput& input) {
  return Reconciler(input).Run();
}

}  // namespace strata::agent
