#include "webhooks/webhook.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/ascii.h"

namespace strata::webhooks {
namespace {

using Effect = Webhook::Effect;

constexpr std::string_view kScheduling = "scheduling.volcano.sh";

constexpr std::array<Webhook, 10> kWebhooks = {{
    {"/gpus/mutate",
     "mutategpus.strata.sh",
     Effect::kMutate,
     "",
     "v1",
     "Pod",
     "pods",
     kCreate,
     true,
     Webhook::Pods::kOwnAndMarked},
    {"/hypernodes/validate",
     "validatehypernode.volcano.sh",
     Effect::kValidate,
     "topology.volcano.sh",
     "v1alpha1",
     "HyperNode",
     "hypernodes",
     kCreate | kUpdate},
    {"/jobs/mutate",
     "mutatejob.volcano.sh",
     Effect::kMutate,
     "batch.volcano.sh",
     "v1alpha1",
     "Job",
     "jobs",
     kCreate},
    {"/jobs/validate",
     "validatejob.volcano.sh",
     Effect::kValidate,
     "batch.volcano.sh",
     "v1alpha1",
     "Job",
     "jobs",
     kCreate | kUpdate},
    {"/podgroups/mutate",
     "mutatepodgroup.volcano.sh",
     Effect::kMutate,
     kScheduling,
     "v1beta1",
     "PodGroup",
     "podgroups",
     kCreate},
    {"/podgroups/validate",
     "validatepodgroup.volcano.sh",
     Effect::kValidate,
     kScheduling,
     "v1beta1",
     "PodGroup",
     "podgroups",
     kCreate},
    {"/pods/mutate", "mutatepod.volcano.sh", Effect::kMutate, "", "v1", "Pod", "pods", kCreate},
    {"/pods/validate",
     "validatepod.volcano.sh",
     Effect::kValidate,
     "",
     "v1",
     "Pod",
     "pods",
     kCreate,
     false,
     Webhook::Pods::kOwn},
    {"/queues/mutate",
     "mutatequeue.volcano.sh",
     Effect::kMutate,
     kScheduling,
     "v1beta1",
     "Queue",
     "queues",
     kCreate},
    {"/queues/validate",
     "validatequeue.volcano.sh",
     Effect::kValidate,
     kScheduling,
     "v1beta1",
     "Queue",
     "queues",
     kCreate | kUpdate | kDelete},
}};

// Volcano's, for kinds that nothing here works on.
constexpr std::array<std::string_view, 2> kOfOtherKinds = {"/cronjobs/validate",
                                                           "/jobflows/validate"};

}  // namespace

std::string ShowOperations(Operations operations) {
  std::vector<std::string_view> words;
  if ((operations & kCreate) != 0) words.emplace_back("`CREATE`");
  if ((operations & kUpdate) != 0) words.emplace_back("`UPDATE`");
  if ((operations & kDelete) != 0) words.emplace_back("`DELETE`");
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::span<const Webhook> AllWebhooks() {
  return kWebhooks;
}

bool IsWebhookPath(std::string_view path) {
  const auto is_it = [path](const Webhook& webhook) { return webhook.path == path; };
  return std::any_of(kWebhooks.begin(), kWebhooks.end(), is_it) ||
         std::count(kOfOtherKinds.begin(), kOfOtherKinds.end(), path) != 0;
}

Result<EnabledWebhooks> ParseEnabled(std::string_view paths) {
  EnabledWebhooks enabled;
  std::set<std::string_view> wanted;
  for (const std::string_view part : Split(paths, ',')) {
    const std::string_view path = Trim(part);
    if (path.empty()) continue;
    const auto is_it = [path](const Webhook& webhook) { return webhook.path == path; };
    if (std::any_of(kWebhooks.begin(), kWebhooks.end(), is_it)) {
      wanted.insert(path);
    } else if (std::count(kOfOtherKinds.begin(), kOfOtherKinds.end(), path) != 0) {
      enabled.left_out.emplace_back(path);
    } else {
      return Fail(Code::kInvalidArgument, fmt::format("there is no webhook {}", path));
    }
  }
  for (const Webhook& webhook : kWebhooks) {
    if (wanted.contains(webhook.path)) enabled.webhooks.push_back(&webhook);
  }
  if (enabled.webhooks.empty()) return Fail(Code::kInvalidArgument, "no webhook is enabled");
  return enabled;
}

}  // namespace strata::webhooks
