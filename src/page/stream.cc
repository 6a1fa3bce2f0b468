#include "page/stream.h"

#include <utility>

#include <fmt/format.h>

#include "page/responses.h"

namespace strata::page {
namespace {

// Proxies and the page itself give a silent stream up.
constexpr Duration kPingEvery = std::chrono::seconds(15);
// A piece of an answer.
constexpr std::size_t kEnough = std::size_t{64} << 10U;

}  // namespace

class Stream::Viewer final : public net::BodySource {
 public:
  Viewer(Stream& stream,
         std::uint64_t number,
         std::int64_t epoch,
         std::int64_t revision,
         std::shared_ptr<const Ticket> ticket)
      : stream_(stream),
        number_(number),
        epoch_(epoch),
        next_(revision + 1),
        pings_(stream.pings_),
        ticket_(std::move(ticket)) {
    ++stream_.viewers_;
  }
  ~Viewer() override {
    --stream_.viewers_;
    stream_.open_.erase(number_);
  }

  More Pull(std::string& out) override {
    if (ticket_ && ticket_->is_over) return More::kEnd;
    const auto count = static_cast<std::int64_t>(stream_.events_.size());
    const std::int64_t end = stream_.first_ + count;
    if (epoch_ != stream_.epoch_ || next_ < stream_.first_ || next_ > end) {
      out += "event: epoch\ndata: {}\n\n";
      return More::kEnd;
    }
    while (next_ < end && out.size() < kEnough) {
      out += *stream_.events_[static_cast<std::size_t>(next_ - stream_.first_)];
      ++next_;
    }
    if (std::exchange(pings_, stream_.pings_) != stream_.pings_ && out.empty()) out += ":\n\n";
    return next_ < end ? More::kReady : More::kLater;
  }

 private:
  Stream& stream_;
  const std::uint64_t number_;
  const std::int64_t epoch_;
  std::int64_t next_;
  std::uint64_t pings_;
  const std::shared_ptr<const Ticket> ticket_;
};

Stream::Stream(net::EventLoop& loop, std::function<void()> on_viewer, std::size_t max_bytes)
    : loop_(loop),
      on_viewer_(std::move(on_viewer)),
      max_bytes_(max_bytes),
      ping_(loop.After(kPingEvery, [this] { Ping(); })) {}

Stream::~Stream() {
  loop_.Cancel(ping_);
}

void Stream::Begin(std::int64_t epoch, std::int64_t revision) {
  epoch_ = epoch;
  first_ = revision + 1;
  events_.clear();
  bytes_ = 0;
  WakeAll();
}

void Stream::Add(std::int64_t revision, const std::string& data) {
  auto event = std::make_shared<const std::string>(
      fmt::format("event: change\nid: {}\ndata: {}\n\n", revision, data));
  bytes_ += event->size();
  events_.push_back(std::move(event));
  while (bytes_ > max_bytes_ && events_.size() > 1) {
    bytes_ -= events_.front()->size();
    events_.pop_front();
    ++first_;
  }
  WakeAll();
}

void Stream::Open(const std::shared_ptr<net::Exchange>& exchange,
                  std::int64_t epoch,
                  std::int64_t revision,
                  std::shared_ptr<const Ticket> ticket) {
  const std::uint64_t number = ++last_viewer_;
  open_.emplace(number, exchange);
  net::HttpResponse head = StreamHead();
  head.body = ":\n\n";  // so that the reader has something at once
  exchange->RespondStream(
      std::move(head), std::make_unique<Viewer>(*this, number, epoch, revision, std::move(ticket)));
  on_viewer_();
}

void Stream::WakeAll() {
  const auto open = open_;  // a viewer that ends takes itself out
  for (const auto& [number, exchange] : open) exchange->Wake();
}

void Stream::Ping() {
  ++pings_;
  WakeAll();
  ping_ = loop_.After(kPingEvery, [this] { Ping(); });
}

}  // namespace strata::page
