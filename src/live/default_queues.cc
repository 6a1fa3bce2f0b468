#include "live/default_queues.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "json/dump.h"

namespace strata::live {
namespace {

std::string QueueText(const std::string& name, bool reclaimable) {
  const nlohmann::ordered_json queue = {{"apiVersion", kube::ApiVersion(kube::kQueues)},
                                        {"kind", kube::kQueues.kind},
                                        {"metadata", {{"name", name}}},
                                        {"spec", {{"reclaimable", reclaimable}, {"weight", 1}}}};
  return DumpJson(queue);
}

}  // namespace

DefaultQueues::DefaultQueues(Tools tools,
                             std::shared_ptr<kube::Mailbox> mailbox,
                             std::string default_queue)
    : tools_(std::move(tools)),
      mailbox_(std::move(mailbox)),
      retries_(tools_.random),
      default_queue_(std::move(default_queue)) {}

void DefaultQueues::Ensure(const ClusterFeed& feed) {
  const std::pair<std::string, bool> wanted[] = {{"root", false}, {default_queue_, true}};
  next_try_.reset();
  for (const auto& [name, reclaimable] : wanted) {
    if (feed.FindQueue(name) != nullptr) {
      asked_for_.erase(name);
      retries_.Forget(name);
      continue;
    }
    if (const net::SteadyTime due = retries_.Due(name); tools_.now() < due) {
      next_try_ = std::min(next_try_.value_or(due), due);
      continue;
    }
    if (!asked_for_.insert(name).second) continue;
    auto answered = [this, mailbox = mailbox_, name = name](const kube::Reply& reply) {
      if (reply || reply.error().AlreadyExists()) return;
      mailbox->Post([this, name, error = reply.error().error.message] {
        tools_.log.Warning("cannot create queue", {{"queue", name}, {"err", error}});
        asked_for_.erase(name);
        const net::SteadyTime due = retries_.Failed(name, tools_.now());
        next_try_ = std::min(next_try_.value_or(due), due);
      });
    };
    tools_.calls.Submit("queues/" + name,
                        kube::CreateCall({kube::kQueues, "", "", ""}, QueueText(name, reclaimable)),
                        CallQueue::Urgency::kUrgent,
                        std::move(answered));
  }
}

}  // namespace strata::live
