#include "device_plugin/pod_source.h"

namespace strata::device_plugin {

Result<KnownPods> JsonPodSource::List(Duration limit) {
  TRY_ASSIGN(const Answer answer, fetch_(limit));
  TRY_ASSIGN(std::vector<agent::KnownPod> pods, agent::ReadPodList(answer.pod_list, resource_));
  return KnownPods{.pods = std::move(pods), .lock_owner = answer.lock_owner};
}

}  // namespace strata::device_plugin
