#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "convert/cluster_feed.h"
#include "kube/mailbox.h"
#include "live/binder.h"
#include "live/call_queue.h"
#include "live/node_lock_book.h"
#include "obs/log.h"

namespace strata::live {

// Binds pods with GPUs to the nodes of HAMi's and Volcano's agents one at a time, each under the
// lock of its node. The decisions are those of a NodeLockBook for each dialect.
//
// On the thread that schedules.
class NodeLocker {
 public:
  struct Tools {
    CallQueue& calls;
    const ClusterFeed& feed;
    const obs::Log& log;
    const Clock& clock;
    std::function<net::SteadyTime()> now;
    kube::Random random;
    std::function<void(BindOrder)> bind;                    // its outcome comes to TakeOutcome
    std::function<void(const Binder::Outcome&)> on_failed;  // the order was not carried out
  };
  // All of it must outlive it; `mailbox` is where the answers come.
  NodeLocker(Tools tools, std::shared_ptr<kube::Mailbox> mailbox);

  // Whether the order needs the lock of its node.
  [[nodiscard]] bool Needs(const BindOrder& order) const;
  // Carries the order out when its turn comes. REQUIRES: Needs(order).
  void Add(BindOrder order);
  void TakeOutcome(const Binder::Outcome& outcome);

  // The feed has something new of the object; `version` is that of the node.
  void SeeNode(const std::string& node, const std::string& version);
  void SeePod(const std::string& pod);

  // Only as the leader that has seen everything.
  void DoDue();
  [[nodiscard]] std::optional<net::SteadyTime> NextDue() const;

 private:
  [[nodiscard]] NodeLockBook::Moment ThisMoment() const;
  void Do(NodeLockBook& book, LockStep step);
  void Write(NodeLockBook& book, const LockStep& step);
  void TakeAnswer(NodeLockBook& book, const LockStep& step, const kube::Reply& reply);
  [[nodiscard]] NodeLockBook MakeBook(GpuDialect dialect) const;

  Tools tools_;
  std::shared_ptr<kube::Mailbox> mailbox_;
  std::array<NodeLockBook, kGpuDialects.size()> books_;  // as in kGpuDialects
};

}  // namespace strata::live
