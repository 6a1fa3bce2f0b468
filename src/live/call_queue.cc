#include "live/call_queue.h"

#include <condition_variable>
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
      if (draining_) return;
      const auto [known, is_new] = waiting_.try_emplace(key);
      Item& item = known->second;
      if (is_new || urgency < item.place.first) {
        line_.erase(item.place);
        item.place = {urgency, ++submitted_};
        if (!busy_.contains(key)) line_.emplace(item.place, key);
      }
      item.call = std::move(call);
      item.done = std::move(done);
    }
    SendSome();
  }

  bool Drain(Duration limit) {
    std::unique_lock lock(mutex_);
    draining_ = true;
    waiting_.clear();
    line_.clear();
    return answered_.wait_for(lock, limit, [this] { return busy_.empty(); });
  }

  void Close() {
    const std::lock_guard telling(telling_);
    const std::lock_guard lock(mutex_);
    closed_ = true;
    waiting_.clear();
    line_.clear();
  }

 private:
  using Place = std::pair<Urgency, std::uint64_t>;  // in the line; earlier ones are less
  struct Item {
    Place place{};
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
        dropped.sent = net::TransportError::Sent::kNo;
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

  std::optional<Next> TakeNext() {
    const std::lock_guard lock(mutex_);
    if (static_cast<int>(busy_.size()) >= options_.most_under_way) return std::nullopt;
    if (line_.empty()) return std::nullopt;
    std::string key = line_.extract(line_.begin()).mapped();
    busy_.insert(key);
    auto item = waiting_.extract(key);
    return Next(std::move(key), std::move(item.mapped()));
  }

  void Finish(const std::string& key, const Done& done, const kube::Reply& reply) {
    {
      const std::lock_guard telling(telling_);
      if (closed_) return;
      if (done) done(reply);
      const std::lock_guard lock(mutex_);
      busy_.erase(key);
      if (const auto next = waiting_.find(key); next != waiting_.end()) {
        line_.emplace(next->second.place, key);
      }
      answered_.notify_all();
    }
    client_.writes().Post([self = shared_from_this()] { self->SendSome(); });
  }

  kube::Client& client_;
  Options options_;
  std::mutex telling_;  // held while hooks run, so that none does after Close
  std::mutex mutex_;
  std::condition_variable answered_;
  bool closed_ = false;
  bool draining_ = false;
  std::uint64_t submitted_ = 0;
  std::map<std::string, Item> waiting_;  // by key
  std::map<Place, std::string> line_;    // the keys of those that nothing under way holds up
  std::set<std::string> busy_;
};

CallQueue::CallQueue(kube::Client& client, Options options)
    : impl_(std::make_shared<Impl>(client, std::move(options))) {}

CallQueue::~CallQueue() {
  impl_->Close();
}

bool CallQueue::Drain(Duration limit) {
  return impl_->Drain(limit);
}

void CallQueue::Submit(const std::string& key, kube::Call call, Urgency urgency, Done done) {
  impl_->Submit(key, std::move(call), urgency, std::move(done));
}

}  // namespace strata::live
