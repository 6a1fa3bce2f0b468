#include "live/default_queues.h"

#include <nlohmann/json.hpp>

namespace strata::live {
namespace {

std::string QueueText(const std::string& name, bool reclaimable) {
  const nlohmann::ordered_json queue = {{"apiVersion", kube::ApiVersion(kube::kQueues)},
                                        {"kind", kube::kQueues.kind},
                                        {"metadata", {{"name", name}}},
                                        {"spec", {{"reclaimable", reclaimable}, {"weight", 1}}}};
  return queue.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

DefaultQueues::DefaultQueues(CallQueue& calls,
                             std::shared_ptr<Mailbox> mailbox,
                             const obs::Log& log,
                             std::string default_queue)
    : calls_(calls),
      mailbox_(std::move(mailbox)),
      log_(log),
      default_queue_(std::move(default_queue)) {}

void DefaultQueues::Ensure(const ClusterFeed& feed) {
  const std::pair<std::string, bool> wanted[] = {{"root", false}, {default_queue_, true}};
  for (const auto& [name, reclaimable] : wanted) {
    if (feed.FindQueue(name) != nullptr) {
      asked_for_.erase(name);
      continue;
    }
    if (!asked_for_.insert(name).second) continue;
    auto answered = [this, mailbox = mailbox_, name = name](const kube::Reply& reply) {
      if (reply || reply.error().AlreadyExists()) return;
      mailbox->Post([this, name, error = reply.error().error.message] {
        log_.Warning("cannot make queue", {{"queue", name}, {"err", error}});
        asked_for_.erase(name);
        unfinished_ = true;
      });
    };
    calls_.Submit("queues/" + name,
                  kube::CreateCall({kube::kQueues, "", "", ""}, QueueText(name, reclaimable)),
                  CallQueue::Urgency::kUrgent,
                  std::move(answered));
  }
}

}  // namespace strata::live
