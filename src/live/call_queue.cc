#include "live/call_queue.h"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/mutex.h"

namespace strata::live {

class CallQueue::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(kube::Client& client, Options options) : client_(client), options_(std::move(options)) {}

  void Submit(const std::string& key, kube::Call call, Urgency urgency, Done done) {
    {
      const MutexLock lock(mutex_);
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
    const auto end = std::chrono::steady_clock::now() + limit;
    const MutexLock lock(mutex_);
    draining_ = true;
    waiting_.clear();
    line_.clear();
    while (!busy_.empty() && answered_.WaitUntil(mutex_, end)) {
    }
    return busy_.empty();
  }

  void Close() {
    const MutexLock telling(telling_);
    const MutexLock lock(mutex_);
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
      item.call.leadership = options_.leadership;
      client_.Start(std::move(item.call), answered);
    }
  }

  std::optional<Next> TakeNext() {
    const MutexLock lock(mutex_);
    if (static_cast<int>(busy_.size()) >= options_.max_in_flight) return std::nullopt;
    if (line_.empty()) return std::nullopt;
    std::string key = line_.extract(line_.begin()).mapped();
    busy_.insert(key);
    auto item = waiting_.extract(key);
    return Next(std::move(key), std::move(item.mapped()));
  }

  void Finish(const std::string& key, const Done& done, const kube::Reply& reply) {
    {
      const MutexLock telling(telling_);
      if (closed_) return;
      if (done) done(reply);
      const MutexLock lock(mutex_);
      busy_.erase(key);
      if (const auto next = waiting_.find(key); next != waiting_.end()) {
        line_.emplace(next->second.place, key);
      }
      answered_.NotifyAll();
    }
    client_.writes().Post([self = shared_from_this()] { self->SendSome(); });
  }

  kube::Client& client_;
  Options options_;
  Mutex telling_;  // held while a `done` runs, so that none does after Close
  Mutex mutex_;
  CondVar answered_;
  bool closed_ GUARDED_BY(telling_) = false;
  bool draining_ GUARDED_BY(mutex_) = false;
  std::uint64_t submitted_ GUARDED_BY(mutex_) = 0;
  std::map<std::string, Item> waiting_ GUARDED_BY(mutex_);  // by key
  // The keys of those that nothing under way holds up.
  std::map<Place, std::string> line_ GUARDED_BY(mutex_);
  std::set<std::string> busy_ GUARDED_BY(mutex_);
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
