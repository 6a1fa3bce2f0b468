#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "device_plugin/effects.h"
#include "kube/client.h"
#include "kube/event_recorder.h"
#include "obs/log.h"

namespace strata::device_plugin {

// Carries out what the device plugin wants by calls of the API server. Nothing blocks; a call that
// fails is tried again by the client, and then told in the log: the journal has what was answered,
// so that nothing but an annotation is late.
class KubeEffects final : public Effects {
 public:
  // All of them must outlive it.
  KubeEffects(kube::Client& client, std::string node, obs::Log& log, const Clock& clock);

  void Settle(const agent::Settlement& settlement) override;
  void Correct(const agent::RecordCorrection& correction) override;
  void Report(const PluginEvent& event) override;

 private:
  class Calls;
  const std::string node_;
  // Shared with answers that come when nobody works any more.
  const std::shared_ptr<Calls> calls_;
  kube::EventRecorder events_;
};

}  // namespace strata::device_plugin
