#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "explain/holders.h"
#include "objects/object_set.h"
#include "objects/topology.h"
#include "whatif/cluster.h"

// The commands that make the changes that are advised, for the shell of a person.
namespace strata {

// One word of a POSIX shell that stands for `text`, whatever it holds.
[[nodiscard]] std::string ShellWord(std::string_view text);

// A line for a shell, with kubectl or strata.
struct AdviceCommand {
  std::string line;       // "" where no command makes the change
  bool restarts = false;  // it makes the job or its pods anew

  bool operator==(const AdviceCommand&) const = default;
};

// One step of a JSON patch.
struct PatchStep {
  enum class Op : std::uint8_t { kAdd, kRemove } op = Op::kAdd;
  std::string path;   // a JSON pointer; PointerTo escapes names
  std::string value;  // JSON; "" with kRemove
};
// `name` as one part of a JSON pointer.
[[nodiscard]] std::string PointerPart(std::string_view name);

[[nodiscard]] AdviceCommand UncordonCommand(const std::vector<std::string>& nodes);
[[nodiscard]] AdviceCommand OpenQueueCommand(const std::string& queue);
[[nodiscard]] AdviceCommand CapabilityCommand(const std::string& queue,
                                              const std::string& resource,
                                              const Quantity& amount);
[[nodiscard]] AdviceCommand WeightCommand(const std::string& queue, std::int64_t weight);
// Changes the ResourceQuota "ns/name".
[[nodiscard]] AdviceCommand QuotaCommand(const std::string& quota,
                                         const std::string& resource,
                                         const Quantity& amount);
// Writes `actions` ("enqueue, allocate") into the ConfigMap of the scheduler.
[[nodiscard]] AdviceCommand ActionsCommand(const std::string& actions);
// Ends what holds resources so that it can be started again where that is possible: Jobs are
// suspended, Deployments scaled to 0; pods that nobody controls are deleted.
[[nodiscard]] AdviceCommand EndCommand(const CompletedObjects& objects, const Holder& holder);

// The commands that change one waiting job, at the object that a person wrote: its Job, where the
// job controller would undo a change of the PodGroup; what controls its pods; or pods and PodGroup.
// Fields of a Job that cannot change are changed by deleting the Job and creating it again.
class JobCommands {
 public:
  // `group` is "ns/podgroup" and exists. `objects` outlive this.
  JobCommands(const CompletedObjects& objects, const std::string& group);

  [[nodiscard]] bool of_job() const { return !job_name_.empty(); }
  // "Job default/train", or "PodGroup default/train".
  [[nodiscard]] std::string Object() const;

  // What is to be changed in a pod's spec; paths begin below it. `spec` is that of a template or of
  // a pod.
  using EditPod = std::function<std::vector<PatchStep>(const objects::PodSpec& spec)>;
  // Whether Kubernetes lets pods that exist change so.
  enum class Pods : std::uint8_t { kMayChange, kAreFixed };
  [[nodiscard]] AdviceCommand ChangePods(const EditPod& edit, Pods pods) const;
  [[nodiscard]] AdviceCommand RemoveGates() const;
  // Gives `to` to all pods that name the scheduler `from`.
  [[nodiscard]] AdviceCommand SetScheduler(const std::string& from, const std::string& to) const;

  // `policy` is the index of a sub-group policy, none for the whole job.
  [[nodiscard]] AdviceCommand SetTopology(std::optional<std::size_t> policy,
                                          const objects::NetworkTopology& topology) const;
  [[nodiscard]] AdviceCommand SetMinimum(std::int64_t count) const;
  [[nodiscard]] AdviceCommand SetMinSubGroups(std::size_t policy, std::int64_t count) const;

 private:
  // Where the task of a sub-group policy is in the Job: "/spec/tasks/1/"; "" when that is unknown.
  [[nodiscard]] std::string TaskOf(std::size_t policy) const;
  [[nodiscard]] AdviceCommand ReplaceJob(const std::vector<PatchStep>& steps) const;
  [[nodiscard]] AdviceCommand PatchGroup(const std::vector<PatchStep>& steps) const;
  // The PodGroup's steps for a smaller gang: as `changed` has it.
  [[nodiscard]] std::vector<PatchStep> MinimumSteps(const objects::PodGroup& changed) const;
  // The PodGroup and its pods alone.
  [[nodiscard]] objects::ObjectSet GroupAlone() const;
  [[nodiscard]] AdviceCommand ChangeTemplate(std::string_view kind,
                                             const std::string& name,
                                             const EditPod& edit) const;
  [[nodiscard]] AdviceCommand ChangeEachPod(const EditPod& edit, Pods pods) const;

  const CompletedObjects& objects_;
  const objects::PodGroup& group_;
  std::string job_name_;               // "ns/job"; "" when the PodGroup is not of a Job
  const objects::Job* job_ = nullptr;  // null also where only its name is known
  std::vector<const objects::Pod*> waiting_;
};

}  // namespace strata
