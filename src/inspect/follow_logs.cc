#include "inspect/follow_logs.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "inspect/live_cluster.h"
#include "kube/failure.h"
#include "net/line_splitter.h"

namespace strata::inspect {
namespace {

// So many bytes may wait for a slow reader, such as a pager.
constexpr std::size_t kMaxWaiting = std::size_t{64} << 20U;
constexpr std::size_t kMaxErrorBody = std::size_t{64} << 10U;
constexpr int kOk = 200;

// What the streams give and the waiting thread takes.
class Inbox {
 public:
  explicit Inbox(std::size_t streams) : open_(streams) {}

  // False when nobody takes any more.
  bool Put(const std::string& lines) {
    const MutexLock lock(mutex_);
    if (over_) return false;
    waiting_ += lines;
    changed_.NotifyOne();
    if (waiting_.size() <= kMaxWaiting) return true;
    failure_.emplace();
    failure_->error = {Code::kUnavailable, "the output takes lines too slowly"};
    over_ = true;
    return false;
  }
  void End(std::size_t stream, std::optional<kube::Failure> failure) {
    const MutexLock lock(mutex_);
    --open_;
    if (failure && !over_) {
      failure_ = std::move(failure);
      failed_stream_ = stream;
      over_ = true;
    }
    changed_.NotifyOne();
  }
  // From now on nothing is taken.
  void Close() {
    const MutexLock lock(mutex_);
    over_ = true;
  }

  // Waits for lines; "" when there will be none.
  [[nodiscard]] std::string Take() {
    const MutexLock lock(mutex_);
    while (waiting_.empty() && open_ > 0 && !over_) changed_.Wait(mutex_);
    return std::exchange(waiting_, {});
  }
  void WaitForEnd() {
    const MutexLock lock(mutex_);
    while (open_ > 0) changed_.Wait(mutex_);
  }
  struct Failed {
    std::size_t stream;
    kube::Failure failure;
  };
  [[nodiscard]] std::optional<Failed> failed() {
    const MutexLock lock(mutex_);
    if (!failure_) return std::nullopt;
    return Failed{failed_stream_, *failure_};
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::string waiting_ GUARDED_BY(mutex_);
  std::size_t open_ GUARDED_BY(mutex_);
  bool over_ GUARDED_BY(mutex_) = false;
  std::size_t failed_stream_ GUARDED_BY(mutex_) = 0;
  std::optional<kube::Failure> failure_ GUARDED_BY(mutex_);
};

// The answer with one log.
class LogReceiver final : public net::Receiver {
 public:
  LogReceiver(std::shared_ptr<Inbox> inbox, std::size_t stream, std::string prefix)
      : inbox_(std::move(inbox)), stream_(stream), prefix_(std::move(prefix)) {}

  void OnHead(net::HttpResponse head) override { head_ = std::move(head); }

  Wish OnBody(std::string_view piece) override {
    if (head_.status != kOk) {
      error_body_ += piece.substr(0, kMaxErrorBody - std::min(kMaxErrorBody, error_body_.size()));
      return Wish::kMore;
    }
    std::string lines;
    const bool good = lines_.Feed(piece, [&](const std::string& line) {
      lines.append(prefix_).append(line).push_back('\n');
      return true;
    });
    const bool taken = lines.empty() || inbox_->Put(lines);
    return good && taken ? Wish::kMore : Wish::kCancel;
  }

  void OnEnd(net::Outcome outcome) override {
    if (!lines_.rest().empty()) inbox_->Put(prefix_ + lines_.rest() + "\n");
    std::optional<kube::Failure> failure;
    if (!outcome) {
      failure = kube::ReadFailure(outcome.error());
    } else if (head_.status != kOk) {
      failure = kube::ReadFailure(head_.status, head_.headers, error_body_);
    }
    inbox_->End(stream_, std::move(failure));
  }

 private:
  std::shared_ptr<Inbox> inbox_;
  std::size_t stream_;
  std::string prefix_;
  net::HttpResponse head_;
  std::string error_body_;
  net::LineSplitter lines_;
};

Status TakeAll(Inbox& inbox, const TakeLines& take) {
  while (true) {
    const std::string lines = inbox.Take();
    if (lines.empty()) return {};
    TRY(take(lines));
  }
}

}  // namespace

Status FollowLogs(kube::Client& client,
                  const kube::ConnectionConfig& config,
                  const std::vector<FollowedLog>& logs,
                  const TakeLines& take) {
  const auto inbox = std::make_shared<Inbox>(logs.size());
  std::vector<net::RequestId> requests;
  requests.reserve(logs.size());
  for (std::size_t i = 0; i < logs.size(); ++i) {
    net::ClientRequest request = client.Request(logs[i].call);
    request.limits.total = Duration(0);  // a log may go on for days
    requests.push_back(client.reads().Send(
        std::move(request), std::make_shared<LogReceiver>(inbox, i, logs[i].prefix)));
  }
  Status taken = TakeAll(*inbox, take);
  inbox->Close();
  for (const net::RequestId request : requests) client.reads().Cancel(request);
  inbox->WaitForEnd();
  if (!taken) return taken;
  const auto failed = inbox->failed();
  if (!failed) return {};
  return tl::unexpected(DescribeFailure(logs[failed->stream].path, failed->failure, config));
}

}  // namespace strata::inspect
