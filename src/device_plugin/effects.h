#pragma once

#include <string>

#include "agent/reconcile.h"
#include "agent/settlement.h"

namespace strata::device_plugin {

// Something that an operator should see, as an Event of a pod; of the Node where `pod` is "".
struct PluginEvent {
  std::string uid;
  std::string ns;
  std::string pod;
  std::string reason;   // "GpuIdsDiffer"
  std::string message;  // one sentence
};

// What the device plugin changes outside this machine. It decides; these functions carry out, and
// try again until it is done. They are called from several threads and must not block: the kubelet
// waits for the answer.
class Effects {
 public:
  Effects() = default;
  Effects(const Effects&) = delete;
  Effects& operator=(const Effects&) = delete;
  virtual ~Effects() = default;

  // A container was served, or refused: read the Node (agent::LockedFor), patch the pod
  // (agent::PatchOf), and if the lock names the pod and the settlement is done() release it
  // (agent::PatchToReleaseLock). The release must not depend on the patch of the pod.
  virtual void Settle(const agent::Settlement& settlement) = 0;
  // Patch the annotations of a pod whose record was corrected.
  virtual void Correct(const agent::RecordCorrection& correction) = 0;
  virtual void Report(const PluginEvent& event) = 0;
};

}  // namespace strata::device_plugin
