#include "net/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "net/curl_transfer.h"

namespace strata::net {
namespace {

using Cause = TransportError::Cause;

SteadyTime ReadSteadyClock() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return SteadyTime(std::chrono::duration_cast<Duration>(std::chrono::seconds(now.tv_sec) +
                                                         std::chrono::nanoseconds(now.tv_nsec)));
}

std::string UrlPart(CURLU* url, CURLUPart part, unsigned flags) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  std::string copy = text;
  curl_free(text);
  return copy;
}

// ", not \"...\"" for an address that holds no password or token.
std::string Quoted(const std::string& address) {
  const bool may_hold_secrets = address.find_first_of("@?#") != std::string::npos;
  return may_hold_secrets ? "" : ", not \"" + address + "\"";
}

Result<CurlServer> ResolveServer(HttpClientOptions options) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> url(curl_url(), &curl_url_cleanup);
  const bool http = options.server.starts_with("http://") || options.server.starts_with("https://");
  if (!http || curl_url_set(url.get(), CURLUPART_URL, options.server.c_str(), 0) != CURLUE_OK) {
    return Fail(Code::kInvalidArgument,
                "server: want an address such as https://host:6443" + Quoted(options.server));
  }
  if (!options.proxy.empty()) {
    const std::unique_ptr<CURLU, void (*)(CURLU*)> proxy(curl_url(), &curl_url_cleanup);
    const unsigned flags = CURLU_NON_SUPPORT_SCHEME | CURLU_GUESS_SCHEME;
    if (curl_url_set(proxy.get(), CURLUPART_URL, options.proxy.c_str(), flags) != CURLUE_OK) {
      return Fail(Code::kInvalidArgument,
                  "proxy-url: want an address such as http://host:3128" + Quoted(options.proxy));
    }
  }
  CurlServer server;
  server.options = std::move(options);
  server.address = server.options.server;
  const std::string& name = server.options.tls_server_name;
  if (name.empty()) return server;
  server.connect_to = "::" + UrlPart(url.get(), CURLUPART_HOST, 0) + ":" +
                      UrlPart(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (curl_url_set(url.get(), CURLUPART_HOST, name.c_str(), 0) != CURLUE_OK) {
    return Fail(Code::kInvalidArgument, "tls-server-name: want a host, not \"" + name + "\"");
  }
  server.address = UrlPart(url.get(), CURLUPART_URL, 0);
  return server;
}

}  // namespace

class HttpClient::Impl {
 public:
  struct CloseMulti {
    void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
  };
  using Multi = std::unique_ptr<CURLM, CloseMulti>;

  // A set of connections, empty at first; null when libcurl has none to give.
  static Multi MakeMulti(long max_connections) {
    Multi multi(curl_multi_init());
    if (multi == nullptr) return multi;
    curl_multi_setopt(multi.get(), CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi.get(), CURLMOPT_MAX_HOST_CONNECTIONS, max_connections);
    curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, max_connections);
    return multi;
  }

  Impl(CurlServer server, Multi multi) : server_(std::move(server)), multi_(std::move(multi)) {
    thread_ = std::thread([this] { Loop(); });
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    Enqueue([this] { stopping_ = true; });
    thread_.join();
  }

  [[nodiscard]] bool OnThread() const { return std::this_thread::get_id() == thread_.get_id(); }

  void Enqueue(std::function<void()> task) {
    const MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
    curl_multi_wakeup(multi_.get());
  }

  RequestId NextRequest() {
    const MutexLock lock(mutex_);
    return RequestId{++last_request_};
  }

  void Begin(RequestId id, ClientRequest request, std::shared_ptr<Receiver> receiver) {
    auto transfer = std::make_unique<CurlTransfer>(id, std::move(request), std::move(receiver));
    if (stopping_) return transfer->Abandon(Cause::kCancelled, kClosing);
    if (!transfer->Prepare(server_) ||
        curl_multi_add_handle(multi_.get(), transfer->handle()) != CURLM_OK) {
      return transfer->Abandon(Cause::kConnection, "libcurl cannot take the request");
    }
    const Duration silence = transfer->silence_limit();
    transfers_.emplace(id, std::move(transfer));
    if (silence.count() > 0) ListenAgain(id, silence);
  }

  void End(RequestId id, Cause cause, std::string_view why) {
    const auto found = transfers_.find(id);
    if (found != transfers_.end()) Take(found)->Abandon(cause, why);
  }

  void CloseConnections() {
    Multi fresh = MakeMulti(server_.options.max_connections);
    if (fresh == nullptr) return;
    std::vector<std::unique_ptr<CurlTransfer>> ended;
    while (!transfers_.empty()) ended.push_back(Take(transfers_.begin()));
    {
      const MutexLock lock(mutex_);  // other threads wake it
      multi_.swap(fresh);
    }
    for (const auto& transfer : ended) {
      transfer->Abandon(Cause::kConnection, "the connection was closed: the server is silent");
    }
  }

  TimerId AddTimer(Duration delay, std::function<void()> task) {
    const TimerId id{++last_timer_};
    const SteadyTime due = ReadSteadyClock() + delay;
    timers_.emplace(std::pair(due, id), std::move(task));
    due_.emplace(id, due);
    return id;
  }

  void RemoveTimer(TimerId timer) {
    const auto found = due_.find(timer);
    if (found == due_.end()) return;
    timers_.erase({found->second, timer});
    due_.erase(found);
  }

  void UseTls(ClientTls tls) { server_.options.tls = std::move(tls); }

 private:
  using Transfers = std::map<RequestId, std::unique_ptr<CurlTransfer>>;
  static constexpr std::string_view kClosing = "the client is closing";

  void Loop() {
    while (!stopping_) {
      // Timers first: a call that they cancel after the machine was suspended is not sent any more.
      RunTimers();
      RunTasks();
      int running = 0;
      curl_multi_perform(multi_.get(), &running);
      FinishTransfers();
      if (!stopping_) curl_multi_poll(multi_.get(), nullptr, 0, PollTimeout(), nullptr);
    }
    while (!transfers_.empty()) Take(transfers_.begin())->Abandon(Cause::kCancelled, kClosing);
    while (RunTasks()) {
    }
  }

  std::unique_ptr<CurlTransfer> Take(Transfers::iterator at) {
    std::unique_ptr<CurlTransfer> transfer = std::move(at->second);
    transfers_.erase(at);
    curl_multi_remove_handle(multi_.get(), transfer->handle());
    return transfer;
  }

  // False when there was nothing to do.
  bool RunTasks() {
    std::vector<std::function<void()>> tasks;
    {
      const MutexLock lock(mutex_);
      tasks.swap(tasks_);
    }
    for (const std::function<void()>& task : tasks) task();
    return !tasks.empty();
  }

  void RunTimers() {
    const SteadyTime now = ReadSteadyClock();
    while (!timers_.empty() && timers_.begin()->first.first <= now) {
      const auto first = timers_.begin();
      const std::function<void()> task = std::move(first->second);
      due_.erase(first->first.second);
      timers_.erase(first);
      task();
    }
  }

  // A timer of our own per answer: libcurl's would wake the thread every second.
  void ListenAgain(RequestId id, Duration silence) {
    AddTimer(silence, [this, id, silence] {
      const auto found = transfers_.find(id);
      if (found == transfers_.end()) return;
      if (found->second->HasStirred()) return ListenAgain(id, silence);
      End(id, Cause::kTimeout, "no data received for " + std::to_string(silence.count()) + " ms");
    });
  }

  void FinishTransfers() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      CurlTransfer* done = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &done);
      Take(transfers_.find(done->id()))->Finish(code);
    }
  }

  // How long to sleep when no connection stirs; libcurl shortens it by its own timers.
  [[nodiscard]] int PollTimeout() {
    {
      const MutexLock lock(mutex_);
      if (!tasks_.empty()) return 0;
    }
    constexpr Duration kLongest = std::chrono::hours(1);
    if (timers_.empty()) return static_cast<int>(kLongest.count());
    const Duration left = timers_.begin()->first.first - ReadSteadyClock();
    return static_cast<int>(std::clamp(left, Duration(0), kLongest).count());
  }

  // Used on the thread only.
  CurlServer server_;
  Multi multi_;  // changed under mutex_
  Transfers transfers_;
  std::map<std::pair<SteadyTime, TimerId>, std::function<void()>> timers_;
  std::map<TimerId, SteadyTime> due_;
  std::uint64_t last_timer_ = 0;
  bool stopping_ = false;

  Mutex mutex_;
  std::vector<std::function<void()>> tasks_ GUARDED_BY(mutex_);
  std::uint64_t last_request_ GUARDED_BY(mutex_) = 0;

  std::thread thread_;
};

Result<std::unique_ptr<HttpClient>> HttpClient::Start(HttpClientOptions options) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  Impl::Multi multi = Impl::MakeMulti(options.max_connections);
  if (ready != CURLE_OK || multi == nullptr) {
    return Fail(Code::kInternal, "libcurl cannot be used");
  }
  TRY_ASSIGN(CurlServer server, ResolveServer(std::move(options)));
  return std::unique_ptr<HttpClient>(
      new HttpClient(std::make_unique<Impl>(std::move(server), std::move(multi))));
}

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::~HttpClient() = default;

void HttpClient::SetTls(ClientTls tls) {
  auto* const impl = impl_.get();
  impl->Enqueue([impl, tls = std::move(tls)]() mutable { impl->UseTls(std::move(tls)); });
}
SteadyTime HttpClient::Now() const {
  return ReadSteadyClock();
}
bool HttpClient::OnThread() const {
  return impl_->OnThread();
}
void HttpClient::Post(std::function<void()> task) {
  impl_->Enqueue(std::move(task));
}
TimerId HttpClient::After(Duration delay, std::function<void()> task) {
  return impl_->AddTimer(delay, std::move(task));
}
void HttpClient::CancelTimer(TimerId timer) {
  impl_->RemoveTimer(timer);
}

RequestId HttpClient::Send(ClientRequest request, std::shared_ptr<Receiver> receiver) {
  const RequestId id = impl_->NextRequest();
  auto* const impl = impl_.get();
  impl->Enqueue([impl, id, request = std::move(request), receiver = std::move(receiver)]() mutable {
    impl->Begin(id, std::move(request), std::move(receiver));
  });
  return id;
}

void HttpClient::Cancel(RequestId request) {
  auto* const impl = impl_.get();
  impl->Enqueue([impl, request] { impl->End(request, Cause::kCancelled, "cancelled"); });
}

void HttpClient::CloseConnections() {
  auto* const impl = impl_.get();
  impl->Enqueue([impl] { impl->CloseConnections(); });
}

}  // namespace strata::net
