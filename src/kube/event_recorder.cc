#include "kube/event_recorder.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <set>
#include <utility>

namespace strata::kube {

// On the thread of client.writes(), but for the counters.
class EventRecorder::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(Client& client, Options options, const Clock& clock)
      : client_(client),
        transport_(client.writes()),
        options_(std::move(options)),
        clock_(clock),
        correlator_(options_.component) {}

  // From any thread.
  void Record(EventNote note) {
    if (++waiting_ > options_.max_waiting) {
      --waiting_;
      ++dropped_;
      return;
    }
    transport_.Post([self = shared_from_this(), note = std::move(note)] { self->Take(note); });
  }

  [[nodiscard]] net::Transport& transport() const { return transport_; }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

  void Close() {
    closed_ = true;
    line_.clear();
  }

 private:
  using Write = EventCorrelator::Write;

  void Take(const EventNote& note) {
    std::optional<Write> write;
    if (!closed_) write = correlator_.Decide(note, clock_.Now(), transport_.Now());
    if (!write) {
      --waiting_;
      return;
    }
    line_.push_back(std::move(*write));
    SendSome();
  }

  // An Event that is being written is not written again before that is done: else a count could
  // come before the Event it counts.
  void SendSome() {
    while (static_cast<int>(under_way_.size()) < options_.max_in_flight) {
      const auto next = std::find_if(line_.begin(), line_.end(), [this](const Write& write) {
        return !under_way_.contains({write.ns, write.name});
      });
      if (next == line_.end()) return;
      Write write = std::move(*next);
      line_.erase(next);
      under_way_.emplace(write.ns, write.name);
      Send(std::move(write));
    }
  }

  void Send(Write write) {
    Call call = std::move(write.call);
    client_.Start(std::move(call),
                  [self = shared_from_this(), write = std::move(write)](
                      const Reply& reply) mutable { self->Finish(std::move(write), reply); });
  }

  void Finish(Write write, const Reply& reply) {
    if (!reply && reply.error().http_status == 404 && write.otherwise && !closed_) {
      write.call = std::move(*std::exchange(write.otherwise, std::nullopt));
      return Send(std::move(write));
    }
    under_way_.erase({write.ns, write.name});
    --waiting_;
    if (!closed_) SendSome();
  }

  Client& client_;
  net::Transport& transport_;
  const Options options_;
  const Clock& clock_;
  EventCorrelator correlator_;
  bool closed_ = false;
  std::deque<Write> line_;
  std::set<std::pair<std::string, std::string>> under_way_;
  std::atomic<std::size_t> waiting_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;
};

EventRecorder::EventRecorder(Client& client, Options options, const Clock& clock)
    : impl_(std::make_shared<Impl>(client, std::move(options), clock)) {}

EventRecorder::~EventRecorder() {
  impl_->transport().Run([this] { impl_->Close(); });
}

void EventRecorder::Record(EventNote note) {
  impl_->Record(std::move(note));
}

std::uint64_t EventRecorder::dropped() const {
  return impl_->dropped();
}

}  // namespace strata::kube
