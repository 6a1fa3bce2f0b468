#include "report/kind_words.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"

namespace strata {

std::string KindOfWord(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kWords = {
      {{"job", "Job"},
       {"jobs", "Job"},
       {"vcjob", "Job"},
       {"vcjobs", "Job"},
       {"vj", "Job"},
       {"job.batch.volcano.sh", "Job"},
       {"jobs.batch.volcano.sh", "Job"},
       {"podgroup", "PodGroup"},
       {"podgroups", "PodGroup"},
       {"pg", "PodGroup"},
       {"podgroup.scheduling.volcano.sh", "PodGroup"},
       {"podgroups.scheduling.volcano.sh", "PodGroup"},
       {"pod", "Pod"},
       {"pods", "Pod"},
       {"po", "Pod"},
       {"deployment", "Deployment"},
       {"deployments", "Deployment"},
       {"deploy", "Deployment"},
       {"replicaset", "ReplicaSet"},
       {"rs", "ReplicaSet"},
       {"statefulset", "StatefulSet"},
       {"sts", "StatefulSet"},
       {"daemonset", "DaemonSet"},
       {"ds", "DaemonSet"}}};
  const std::string lower = LowerCase(std::string(word));
  const auto* const known = std::find_if(
      kWords.begin(), kWords.end(), [&](const auto& one) { return one.first == lower; });
  if (known != kWords.end()) return std::string(known->second);
  return lower == word ? "" : std::string(word);
}

}  // namespace strata
