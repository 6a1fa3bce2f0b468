#include "device_plugin/allocations.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "agent/device_ids.h"
#include "agent/gpu_record.h"
#include "device_plugin/cache_folder.h"

namespace strata::device_plugin {

Allocations::Allocations(AllocationOptions options,
                         Sources sources,
                         std::unique_ptr<agent::JournalFile> journal,
                         Outside outside)
    : options_(std::move(options)),
      sources_(std::move(sources)),
      outside_(std::move(outside)),
      journal_(std::move(journal)) {}

Result<agent::AllocateAnswer> Allocations::Allocate(const std::vector<std::string>& ids) {
  const agent::MachineView machine = outside_.machine();
  if (machine == nullptr) {
    return Fail(Code::kUnavailable, "the GPUs of this node are not known yet");
  }
  if (Source() == nullptr && best_source_ == kNoSource) return AllocateByIds(*machine, ids);
  const auto known = ListPods();
  if (!known) {
    const MutexLock lock(mutex_);
    ++counters_.refused;
    return Fail(Code::kUnavailable,
                fmt::format("the pod that asks for {} cannot be known: {}",
                            fmt::join(ids, ", "),
                            known.error().message));
  }
  return AllocateFor(*known, *machine, ids);
}

Result<agent::AllocateAnswer> Allocations::AllocateFor(const KnownPods& known,
                                                       const agent::Machine& machine,
                                                       const std::vector<std::string>& ids) {
  const auto decision = Decide(known, machine, ids);
  if (!decision) {
    const agent::AdmissionRefusal& refusal = decision.error();
    outside_.log.Warning("Allocate refused", {{"reason", refusal.reason}});
    if (refusal.pod) outside_.effects.Settle(agent::SettleRefused(known.pods[*refusal.pod]));
    return Fail(Code::kInvalidArgument, refusal.reason);
  }
  const agent::KnownPod& pod = known.pods[decision->slot.pod];
  auto answer = Answer(pod, decision->slot, machine);
  if (!answer) {
    outside_.log.Error("Allocate failed",
                       {{"pod", pod.FullName()}, {"error", answer.error().message}});
    outside_.effects.Settle(agent::SettleRefused(pod));
    return answer;
  }
  Tell(pod, decision->slot, ids);
  outside_.effects.Settle(decision->settlement);
  return answer;
}

// Chooses the container and writes it into the journal, in one step: two calls at a time never get
// the same container.
tl::expected<Allocations::Decision, agent::AdmissionRefusal> Allocations::Decide(
    const KnownPods& known, const agent::Machine& machine, const std::vector<std::string>& ids) {
  const MutexLock lock(mutex_);
  auto slot = agent::Admit(InputOf(known, machine), ids);
  if (!slot) {
    ++counters_.refused;
    return tl::unexpected(std::move(slot).error());
  }
  const agent::KnownPod& pod = known.pods[slot->pod];
  const Status written = journal_->Append({.uid = pod.uid,
                                           .ns = pod.ns,
                                           .pod = pod.name,
                                           .container = pod.containers[slot->container].name,
                                           .uuids = agent::UuidsOf(slot->shares),
                                           .ids = ids,
                                           .served = outside_.clock.Now()});
  if (!written) {
    ++counters_.refused;
    return tl::unexpected(agent::AdmissionRefusal{
        .reason = fmt::format("pod {}: the journal of the agent cannot be written: {}",
                              pod.FullName(),
                              written.error().message),
        .pod = slot->pod});
  }
  ++counters_.served;
  counters_.ambiguous += slot->ambiguous ? 1 : 0;
  counters_.ids_differ += slot->ids_differ ? 1 : 0;
  counters_.again += slot->again ? 1 : 0;
  return Decision{.slot = std::move(*slot),
                  .settlement = agent::SettleServed(pod, journal_->journal())};
}

Result<agent::AllocateAnswer> Allocations::Answer(const agent::KnownPod& pod,
                                                  const agent::AdmittedSlot& slot,
                                                  const agent::Machine& machine) const {
  const agent::KnownContainer& container = pod.containers[slot.container];
  const agent::ServedContainer served{
      .pod_uid = pod.uid,
      .container = container.name,
      .shares = slot.shares,
      .limited = slot.has_record && agent::IsPathPart(pod.uid) && agent::IsPathPart(container.name),
      .disables_control = container.disables_control,
      .cache_name = RandomHex()};
  agent::AllocateAnswer answer = agent::AnswerFor(machine, served, options_.answer);
  if (!answer.lock_folder.empty()) TRY(MakeCacheFolder(answer.lock_folder, KeepContent::kYes));
  if (!answer.cache_folder.empty()) {
    TRY(MakeCacheFolder(answer.cache_folder, slot.again ? KeepContent::kYes : KeepContent::kNo));
  }
  return answer;
}

void Allocations::Tell(const agent::KnownPod& pod,
                       const agent::AdmittedSlot& slot,
                       const std::vector<std::string>& ids) const {
  const std::string& container = pod.containers[slot.container].name;
  const std::string uuids = fmt::format("{}", fmt::join(agent::UuidsOf(slot.shares), ","));
  outside_.log.Info("container served",
                    {{"pod", pod.FullName()},
                     {"container", container},
                     {"gpus", uuids},
                     {"ambiguous", slot.ambiguous},
                     {"again", slot.again}});
  if (!slot.ids_differ) return;
  outside_.effects.Report(
      {.uid = pod.uid,
       .ns = pod.ns,
       .pod = pod.name,
       .reason = "GpuIdsDiffer",
       .message = fmt::format("container {} has {} by its record, the kubelet counts it on {}",
                              container,
                              uuids,
                              fmt::join(ids, ","))});
}

Result<agent::AllocateAnswer> Allocations::AllocateByIds(const agent::Machine& machine,
                                                         const std::vector<std::string>& ids) {
  agent::ServedContainer served;
  for (const std::string& id : ids) {
    const auto gpu = agent::GpuOfId(machine.node, id);
    if (!gpu) {
      return Fail(Code::kInvalidArgument, fmt::format("this node has no GPU with the id {}", id));
    }
    served.shares.emplace_back().uuid = machine.node.gpus[*gpu].uuid;
  }
  const MutexLock lock(mutex_);
  ++counters_.served;
  return agent::AnswerFor(machine, served, options_.answer);
}

std::vector<std::string> Allocations::Prefer(const agent::PreferredRequest& request) {
  const agent::MachineView machine = outside_.machine();
  const auto known = ListPods();
  agent::WantedGpus wanted;
  if (known && machine != nullptr) {
    const MutexLock lock(mutex_);
    wanted = agent::WantedBy(InputOf(*known, *machine), request.size, request.available);
  }
  return agent::PreferIds(machine == nullptr ? NodeGpus() : machine->node, request, wanted);
}

Status Allocations::Reconcile(const std::vector<agent::HeldDevices>& held, Reports reports) {
  const agent::MachineView machine = outside_.machine();
  if (machine == nullptr) {
    return Fail(Code::kUnavailable, "the GPUs of this node are not known yet");
  }
  TRY_ASSIGN(const KnownPods known, ListPods());
  agent::Reconciliation result;
  {
    const MutexLock lock(mutex_);
    result = agent::Reconcile({.node = options_.node,
                               .journal = journal_->journal(),
                               .held = held,
                               .pods = known.pods,
                               .gpus = machine->node,
                               .now = outside_.clock.Now()});
    if (result.journal != journal_->journal()) TRY(journal_->Replace(result.journal));
    journal_->MarkComplete();
    counters_.differences += static_cast<std::int64_t>(result.differences.size());
    counters_.corrections += static_cast<std::int64_t>(result.corrections.size());
  }
  for (const agent::Difference& difference : result.differences) {
    outside_.log.Warning(
        "journal and kubelet differ",
        {{"pod", difference.ns + "/" + difference.pod}, {"difference", difference.message}});
    const bool adopted = difference.kind == agent::Difference::Kind::kUnknown;
    if (adopted && reports == Reports::kNoAdopted) continue;
    outside_.effects.Report({.uid = difference.uid,
                             .ns = difference.ns,
                             .pod = difference.pod,
                             .reason = "GpuAllocationDiffers",
                             .message = difference.message});
  }
  for (const agent::RecordCorrection& correction : result.corrections) {
    outside_.effects.Correct(correction);
  }
  return {};
}

bool Allocations::journal_incomplete() const {
  const MutexLock lock(mutex_);
  return journal_->incomplete();
}

std::string Allocations::identity() const {
  (void)Source();
  const std::size_t best = best_source_;
  return best == kNoSource ? "none" : sources_[best]->name();
}

AllocationCounters Allocations::counters() const {
  const MutexLock lock(mutex_);
  return counters_;
}

agent::Journal Allocations::journal() const {
  const MutexLock lock(mutex_);
  return journal_->journal();
}

// The first source that is available, but none behind the best that ever was: while a kubelet
// starts, its sockets appear one after the other, and a weaker source may take one pod for another.
PodSource* Allocations::Source() const {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (!sources_[i]->Available()) {
      if (i == best_source_) return nullptr;
      continue;
    }
    best_source_ = i;
    return sources_[i].get();
  }
  return nullptr;
}

Result<KnownPods> Allocations::ListPods() const {
  const auto end = std::chrono::steady_clock::now() + options_.source_limit;
  PodSource* source = Source();
  while (source == nullptr) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= end || best_source_ == kNoSource) {
      return Fail(Code::kUnavailable, "no source of pods is available");
    }
    Mutex nobodys;  // nothing is waited for but time
    const MutexLock lock(nobodys);
    CondVar().WaitUntil(nobodys, std::min(end, now + std::chrono::milliseconds(50)));
    source = Source();
  }
  const auto left = std::chrono::ceil<Duration>(end - std::chrono::steady_clock::now());
  return source->List(std::max(left, Duration(1)));
}

agent::AdmissionInput Allocations::InputOf(const KnownPods& known,
                                           const agent::Machine& machine) const {
  return {.node = options_.node,
          .pods = known.pods,
          .journal = journal_->journal(),
          .gpus = machine.node,
          .lock_owner = known.lock_owner};
}

}  // namespace strata::device_plugin
