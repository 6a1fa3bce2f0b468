#include "live/call_queue.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace strata::live {

class CallQueue::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(kube::Client& client, Options options) : client_(client), options_(std::move(options)) {}

  void Submit(const std::string& key, kube::Call call, Urgency urgency, Done done) {
    {
      const std::lock_guard lock(mutex_);
      const bool urgent = urgency == Urgency::kUrgent;
      const auto known = waiting_.find(key);
      if (known == waiting_.end()) {
        (urgent ? urgent_ : usual_).push_back(key);
      } else if (urgent && std::erase(usual_, key) > 0) {
        urgent_.push_back(key);
      }
      waiting_.insert_or_assign(key, Item{std::move(call), std::move(done)});
    }
    SendSome();
  }

  void Close() {
    const std::lock_guard telling(telling_);
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_.clear();
    urgent_.clear();
    usual_.clear();
  }

 private:
  struct Item {
    kube::Call call;
    Done done;
  };
  using Next = std::pair<std::string, Item>;

  void SendSome() {
    while (std::optional<Next> next = TakeNext()) {
      auto& [key, item] = *next;
      const auto answered = [self = shared_from_this(), key = key, done = std::move(item.done)](
                                const kube::Reply& reply) { self->Finish(key, done, reply); };
      if (!MaySend()) {
        kube::Failure dropped;
        dropped.error = Error{Code::kUnavailable, "not the leader any more"};
        answered(tl::unexpected(std::move(dropped)));
      } else {
        client_.Start(std::move(item.call), answered);
      }
    }
  }

  bool MaySend() {
    const std::lock_guard telling(telling_);
    return !closed_ && (!options_.may_send || options_.may_send());
  }

  // The first in the line that no call to the same object is under way for.
  std::optional<Next> TakeNext() {
    const std::lock_guard lock(mutex_);
    if (static_cast<int>(busy_.size()) >= options_.most_under_way) return std::nullopt;
    for (std::deque<std::string>* line : {&urgent_, &usual_}) {
      const auto free = std::find_if(
          line->begin(), line->end(), [this](const auto& key) { return !busy_.contains(key); });
      if (free == line->end()) continue;
      std::string key = std::move(*free);
      line->erase(free);
      busy_.insert(key);
      auto item = waiting_.extract(key);
      return Next(std::move(key), std::move(item.mapped()));
    }
    return std::nullopt;
  }

  void Finish(const std::string& key, const Done& done, const kube::Reply& reply) {
    {
      const std::lock_guard telling(telling_);
      if (closed_) return;
      {
        const std::lock_guard lock(mutex_);
        busy_.erase(key);
      }
      if (done) done(reply);
    }
    client_.writes().Post([self = shared_from_this()] { self->SendSome(); });
  }

  kube::Client& client_;
  Options options_;
  std::mutex telling_;  // held while hooks run, so that none does after Close
  std::mutex mutex_;
  bool closed_ = false;
  std::map<std::string, Item> waiting_;  // by key
  std::deque<std::string> urgent_;
  std::deque<std::string> usual_;
  std::set<std::string> busy_;
};

CallQueue::CallQueue(kube::Client& client, Options options)
    : impl_(std::make_shared<Impl>(client, std::move(options))) {}

CallQueue::~CallQueue() {
  impl_->Close();
}

void CallQueue::Submit(const std::string& key, kube::Call call, Urgency urgency, Done done) {
  impl_->Submit(key, std::move(call), urgency, std::move(done));
}

}  // namespace strata::live
