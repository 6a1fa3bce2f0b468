#include "kube/client.h"

#include <algorithm>
#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "kube/json_text.h"

namespace strata::kube {
namespace {

// More than any list is; a server that goes on beyond it does not mean well.
constexpr std::size_t kMaxBody = std::size_t{2} << 30U;
constexpr int kPageSize = 500;
constexpr Duration kRenewalPoll = std::chrono::milliseconds(50);

Failure GivenUp() {
  Failure failure;
  failure.error = {Code::kUnavailable, "cancelled: the client is closing"};
  failure.cause = net::TransportError::Cause::kCancelled;
  return failure;
}

}  // namespace

// Lives as long as a call is under way.
struct Client::Shared {
  Shared(net::Transport& for_reads, net::Transport& for_writes, ClientOptions given)
      : reads(for_reads),
        writes(for_writes),
        options(std::move(given)),
        write_bucket(options.write_rate) {}

  net::Transport& reads;
  net::Transport& writes;
  const ClientOptions options;
  TokenBucket write_bucket;  // on the thread of `writes`

  Mutex mutex;
  bool closing GUARDED_BY(mutex) = false;
  std::uint64_t last_operation GUARDED_BY(mutex) = 0;
  // In the order of their start.
  std::map<std::uint64_t, std::shared_ptr<Operation>> operations GUARDED_BY(mutex);

  double Draw() {
    const MutexLock lock(mutex);
    return options.random();
  }
};

// One call, from its first attempt to its answer. On the thread of its transport.
class Client::Operation final : public net::Receiver,
                                public std::enable_shared_from_this<Operation> {
 public:
  Operation(std::shared_ptr<Shared> shared, Call call, Done done)
      : shared_(std::move(shared)),
        transport_(call.IsWrite() ? shared_->writes : shared_->reads),
        call_(std::move(call)),
        done_(std::move(done)),
        backoff_(shared_->options.backoff) {}

  [[nodiscard]] net::Transport& transport() const { return transport_; }
  void SetNumber(std::uint64_t number) { number_ = number; }

  void Begin() {
    const bool waits = call_.IsWrite() && call_.paced;
    SendAfter(waits ? shared_->write_bucket.Take(transport_.Now()) : Duration(0));
  }

  void Finish(Reply reply) {
    if (!done_) return;
    {
      const MutexLock lock(shared_->mutex);
      shared_->operations.erase(number_);
    }
    const Done done = std::exchange(done_, nullptr);
    done(std::move(reply));
  }

  void GiveUp() {
    if (!done_) return;
    transport_.Cancel(request_);
    Finish(tl::unexpected(GivenUp()));
  }

  // Gives up what only the leader may do once this process does not lead.
  void GiveUpUnlessLeading() {
    if (!done_ || MayAct()) return;
    if (under_way_) transport_.Cancel(request_);
    Refuse();
  }

  void OnHead(net::HttpResponse head) override { head_ = std::move(head); }

  Wish OnBody(std::string_view piece) override {
    if (!done_ || body_.size() + piece.size() > kMaxBody) return Wish::kCancel;
    body_ += piece;
    return Wish::kMore;
  }

  void OnEnd(net::Outcome outcome) override {
    if (!done_) return;
    under_way_ = false;
    if (outcome && head_.status < 400) return Finish(std::move(body_));
    Failure failure =
        outcome ? ReadFailure(head_.status, head_.headers, body_) : ReadFailure(outcome.error());
    if (const auto delay = RetryDelay(failure)) return SendAfter(*delay);
    Finish(tl::unexpected(std::move(failure)));
  }

 private:
  void SendAfter(Duration delay) {
    if (delay.count() <= 0) return Send();
    transport_.After(delay, [self = shared_from_this()] { self->Send(); });
  }

  void Send() {
    if (!done_) return;
    if (WaitsForCredentials()) {
      transport_.After(kRenewalPoll, [self = shared_from_this()] { self->Send(); });
      return;
    }
    if (!MayAct()) return Refuse();
    ++attempt_;
    under_way_ = true;
    head_ = {};
    body_.clear();
    net::ClientRequest request = MakeRequest(*shared_, call_);
    if (call_.leadership != nullptr) {
      request.limits.total =
          std::min(request.limits.total, call_.leadership->TimeLeft(transport_.Now()));
    }
    request_ = transport_.Send(std::move(request), shared_from_this());
  }

  [[nodiscard]] bool MayAct() const {
    return call_.leadership == nullptr || call_.leadership->Holds(transport_.Now());
  }

  void Refuse() {
    Failure failure;
    failure.error = {Code::kUnavailable, "not the leader any more"};
    // What is repeated only when the server has certainly not acted has left no doubt before.
    const bool unseen = attempt_ == 0 || call_.repeat == Repeat::kOnlyUnseen;
    if (!under_way_ && unseen) failure.sent = net::TransportError::Sent::kNo;
    Finish(tl::unexpected(std::move(failure)));
  }

  std::optional<Duration> RetryDelay(const Failure& failure) {
    const Duration wait = backoff_.Next([this] { return shared_->Draw(); });
    Credentials* const credentials = shared_->options.credentials.get();
    if (failure.http_status == 401 && credentials != nullptr && attempt_ < kMaxAttempts / 2) {
      credentials->Renew();
      renewal_limit_ = transport_.Now() + call_.timeout;
      return wait;
    }
    return DecideRetry(failure, call_.repeat, attempt_, wait);
  }

  // After a refusal: the old ones would be refused again.
  [[nodiscard]] bool WaitsForCredentials() const {
    return transport_.Now() < renewal_limit_ && shared_->options.credentials->Renewing();
  }

 public:
  static net::ClientRequest MakeRequest(const Shared& shared, const Call& call) {
    net::ClientRequest request;
    request.message.method = call.method;
    request.message.path = call.path;
    request.message.query = call.query;
    request.message.body = call.body;
    request.message.headers.push_back({"Accept", "application/json"});
    if (!call.content_type.empty()) {
      request.message.headers.push_back({"Content-Type", call.content_type});
    }
    if (Credentials* const credentials = shared.options.credentials.get()) {
      std::string value = credentials->Authorization();
      if (!value.empty()) {
        request.message.headers.push_back({"Authorization", std::move(value)});
      }
    }
    request.limits.total = call.timeout;
    return request;
  }

 private:
  std::shared_ptr<Shared> shared_;
  net::Transport& transport_;
  Call call_;
  Done done_;
  std::uint64_t number_ = 0;
  Backoff backoff_;
  int attempt_ = 0;
  bool under_way_ = false;  // an attempt
  net::SteadyTime renewal_limit_ = net::SteadyTime::min();
  net::RequestId request_{};
  net::HttpResponse head_;
  std::string body_;
};

Client::Client(net::Transport& reads, net::Transport& writes, ClientOptions options)
    : shared_(std::make_shared<Shared>(reads, writes, std::move(options))) {}

Client::~Client() {
  std::map<std::uint64_t, std::shared_ptr<Operation>> left;
  {
    const MutexLock lock(shared_->mutex);
    shared_->closing = true;
    left = shared_->operations;
  }
  for (net::Transport* transport : {&shared_->reads, &shared_->writes}) {
    transport->Run([&] {
      for (const auto& [number, operation] : left) {
        if (&operation->transport() == transport) operation->GiveUp();
      }
    });
  }
}

void Client::Start(Call call, Done done) {
  auto operation = std::make_shared<Operation>(shared_, std::move(call), std::move(done));
  bool closing = false;
  {
    const MutexLock lock(shared_->mutex);
    closing = shared_->closing;
    operation->SetNumber(++shared_->last_operation);
    if (!closing) shared_->operations.emplace(shared_->last_operation, operation);
  }
  // Also when closing: `done` belongs on that thread.
  operation->transport().Post([operation, closing] {
    if (closing) return operation->Finish(tl::unexpected(GivenUp()));
    operation->Begin();
  });
}

Reply Client::Do(Call call) {
  CHECK(!reads().OnThread() && !writes().OnThread());
  // Shared: the setter may still be inside when the waiter has left.
  const auto answer = std::make_shared<std::promise<Reply>>();
  Start(std::move(call), [answer](Reply reply) { answer->set_value(std::move(reply)); });
  return answer->get_future().get();
}

net::ClientRequest Client::Request(const Call& call) const {
  return Operation::MakeRequest(*shared_, call);
}

void Client::CancelLeaderCalls() {
  std::map<std::uint64_t, std::shared_ptr<Operation>> all;
  {
    const MutexLock lock(shared_->mutex);
    all = shared_->operations;
  }
  for (const auto& [number, operation] : all) {
    if (&operation->transport() == &shared_->writes) operation->GiveUpUnlessLeading();
  }
}

void Client::RenewCredentials() const {
  if (shared_->options.credentials != nullptr) shared_->options.credentials->Renew();
}

net::Transport& Client::reads() const {
  return shared_->reads;
}
net::Transport& Client::writes() const {
  return shared_->writes;
}

tl::expected<std::vector<std::string>, Failure> ListObjects(Client& client,
                                                            const Resource& resource,
                                                            const std::string& ns,
                                                            ListOptions options) {
  std::vector<std::string> objects;
  options.limit = options.limit == 0 ? kPageSize : options.limit;
  options.next.clear();
  while (true) {
    Reply reply = client.Do(ListCall(resource, ns, options));
    if (!reply && reply.error().http_status == 410 && options.limit > 0) {
      options.limit = 0;
      options.next.clear();
      objects.clear();
      continue;
    }
    if (!reply) return tl::unexpected(std::move(reply).error());
    const auto bad = [](Error error) {
      Failure failure;
      failure.error = std::move(error).Context("the list that the server sent");
      return tl::unexpected(std::move(failure));
    };
    const Result<ListPage> page = CutList(*reply);
    if (!page) return bad(page.error());
    for (const std::string_view item : page->items) {
      const Result<ObjectHead> head = ReadHead(item);
      if (!head) return bad(head.error());
      if (!head->unreadable.empty()) {
        return bad({Code::kInvalidArgument, head->key.name + ": " + head->unreadable});
      }
      objects.push_back(ItemText(item, *head, *page));
    }
    if (page->next.empty()) return objects;
    options.next = page->next;
  }
}

}  // namespace strata::kube
