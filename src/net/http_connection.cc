#include "net/http_connection.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/check.h"

namespace strata::net {
namespace {

using boost::system::error_code;

// Most heads, and what a slow peer sends at a time. Each connection has so much while it waits.
constexpr std::size_t kReadBytes = std::size_t{4} << 10U;
// Where the last read found more than that.
constexpr std::size_t kReadBytesOfMuch = std::size_t{64} << 10U;
// While a stream waits, all that is read is the end of the connection, and at most the beginning of
// a next request.
constexpr std::size_t kReadBytesOfWatcher = 64;
constexpr std::size_t kMaxBytesOfWatcher = std::size_t{16} << 10U;
constexpr std::size_t kStreamBytes = std::size_t{64} << 10U;
// Below that head and body go out as one piece: one packet, one TLS record.
constexpr std::size_t kSmallBody = std::size_t{16} << 10U;
constexpr int kTooManyRequests = 429;
constexpr int kBodyTooLarge = 413;
constexpr Duration kLingerTime = std::chrono::seconds(2);

class ExchangeOfConnection final : public Exchange {
 public:
  ExchangeOfConnection(std::weak_ptr<Connection> connection,
                       std::uint64_t number,
                       HttpRequest request)
      : connection_(std::move(connection)), number_(number), request_(std::move(request)) {}
  ExchangeOfConnection(const ExchangeOfConnection&) = delete;
  ExchangeOfConnection& operator=(const ExchangeOfConnection&) = delete;
  ~ExchangeOfConnection() override {
    if (answered_) return;
    if (const auto connection = connection_.lock()) connection->Abandon(number_);
  }

  const HttpRequest& request() const override { return request_; }
  void Respond(HttpResponse response) override {
    CHECK(!std::exchange(answered_, true));
    if (const auto connection = connection_.lock()) {
      connection->Answer(number_, std::move(response));
    }
  }
  void RespondStream(HttpResponse head, std::unique_ptr<BodySource> source) override {
    CHECK(!std::exchange(answered_, true));
    if (const auto connection = connection_.lock()) {
      connection->AnswerStream(number_, std::move(head), std::move(source));
    }
  }
  void Wake() override {
    if (const auto connection = connection_.lock()) connection->Wake(number_);
  }

 private:
  std::weak_ptr<Connection> connection_;
  std::uint64_t number_;
  HttpRequest request_;
  bool answered_ = false;
};

void Release(std::string& text) {
  std::string().swap(text);
}

}  // namespace

void ShedRequests(ConnectionHub& hub) {
  while (hub.request_bytes > hub.options.max_request_bytes) {
    std::shared_ptr<Connection> first;
    for (const auto& connection : hub.connections) {
      const auto rank = connection->RankForRefusal();
      if (rank && (first == nullptr || *rank < *first->RankForRefusal())) first = connection;
    }
    if (first == nullptr) return;  // the others are being handled
    first->Refuse(kTooManyRequests);
  }
}

Connection::Connection(std::shared_ptr<ConnectionHub> hub, std::unique_ptr<ByteStream<OnIo>> stream)
    : hub_(std::move(hub)), stream_(std::move(stream)) {}

void Connection::Start() {
  ++hub_->strangers;
  since_ = std::chrono::steady_clock::now();
  Expect(hub_->options.stranger_timeout);
  stream_->Handshake({shared_from_this(), &Connection::OnHandshake});
}

void Connection::CloseIfLate(Instant now) {
  if (now > deadline_) Close();
}

void Connection::Drain() {
  keep_alive_ = false;
  if (phase_ == Phase::kHandshake || phase_ == Phase::kIdle) Close();
  if (phase_ != Phase::kStreaming || source_ == nullptr) return;
  source_.reset();
  if (framing_ == Framing::kChunked) AppendLastChunk(writing_ ? body_ : out_);
  if (!writing_) Write();
}

void Connection::Close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  if (caller_ == Caller::kStranger) --hub_->strangers;
  HoldRequestBytes(0);
  const auto self = shared_from_this();
  error_code ignored;
  // What a peer does not take would otherwise stay with the system.
  if (writing_) stream_->socket().set_option(boost::asio::socket_base::linger(true, 0), ignored);
  stream_->socket().close(ignored);
  source_.reset();
  hub_->connections.erase(self);
  if (hub_->draining && hub_->connections.empty() && hub_->on_empty) {
    std::exchange(hub_->on_empty, nullptr)();
  }
}

std::optional<Connection::Rank> Connection::RankForReplacement() const {
  if (phase_ == Phase::kHandling || phase_ == Phase::kStreaming) return std::nullopt;
  if (caller_ == Caller::kStranger) return Rank(Claim::kStranger, since_);
  if (phase_ == Phase::kAnswering) return std::nullopt;
  return Rank(phase_ == Phase::kReading ? Claim::kRequest : Claim::kKnown, since_);
}

std::optional<Connection::Rank> Connection::RankForRefusal() const {
  if (phase_ != Phase::kReading || held_request_bytes_ == 0 || writing_) return std::nullopt;
  return Rank(caller_ == Caller::kStranger ? Claim::kStranger : Claim::kRequest, since_);
}

void Connection::BecomeKnown() {
  if (std::exchange(caller_, Caller::kKnown) == Caller::kStranger) --hub_->strangers;
}

void Connection::HoldRequestBytes(std::size_t bytes) {
  hub_->request_bytes += bytes;
  hub_->request_bytes -= std::exchange(held_request_bytes_, bytes);
}

Duration Connection::IdleLimit() const {
  const HttpServerOptions& options = hub_->options;
  if (caller_ == Caller::kKnown) return options.idle_timeout;
  return std::min(options.idle_timeout, options.stranger_timeout);
}

void Connection::Expect(Duration within) {
  deadline_ = std::chrono::steady_clock::now() + within;
}

void Connection::OnHandshake(error_code error, std::size_t) {
  if (phase_ == Phase::kClosed) return;
  if (error) return Close();
  phase_ = Phase::kIdle;
  since_ = std::chrono::steady_clock::now();
  reader_.emplace(hub_->options.max_body_bytes);
  Parse();
}

void Connection::Read() {
  if (reading_) return;
  reading_ = true;
  std::size_t room = much_ ? kReadBytesOfMuch : kReadBytes;
  if (phase_ == Phase::kStreaming) room = kReadBytesOfWatcher;
  if (!much_ && in_.capacity() > in_used_ + kReadBytesOfMuch / 2) in_.shrink_to_fit();
  in_.resize(in_used_ + room);
  stream_->Read(boost::asio::buffer(in_.data() + in_used_, room),
                {shared_from_this(), &Connection::OnRead});
}

void Connection::OnRead(error_code error, std::size_t bytes) {
  reading_ = false;
  if (phase_ == Phase::kClosed) return;
  if (error) return Close();
  much_ = in_used_ + bytes == in_.size();
  in_used_ += bytes;
  in_.resize(in_used_);
  if (phase_ == Phase::kIdle || phase_ == Phase::kReading) {
    Parse();
  } else if (phase_ == Phase::kLingering) {
    in_used_ = 0;
    Read();
  } else if (phase_ == Phase::kStreaming && waiting_) {
    Listen();
  }
  // A request behind one that is still answered waits in in_.
}

void Connection::Parse() {
  if (in_used_ == 0 && phase_ == Phase::kIdle) {
    Expect(IdleLimit());
    return Read();
  }
  using State = RequestReader::State;
  const bool in_head = phase_ == Phase::kReading && reader_->state() == State::kHead;
  if (phase_ != Phase::kReading) BeginRequest();
  const bool had_head = reader_->state() != State::kHead;
  std::size_t taken = reader_->Feed(in_);
  const bool has_head = reader_->state() == State::kBody || reader_->state() == State::kDone;
  if (!had_head && has_head && !JudgeHead()) return;
  if (reader_->state() == State::kBody) {
    taken += reader_->Feed(std::string_view(in_).substr(taken));
  }
  in_.erase(0, taken);
  in_used_ = in_.size();
  HoldRequestBytes(in_used_ + reader_->body_bytes());
  if (hub_->request_bytes > hub_->options.max_request_bytes) {
    ShedRequests(*hub_);
    if (phase_ != Phase::kReading) return;
  }
  if (reader_->state() == State::kRefused) return Refuse(reader_->refusal());
  if (reader_->state() == State::kDone) return Dispatch();
  // A peer that sends a head byte by byte gets no additional time for each.
  if (!in_head || reader_->state() == State::kBody) Expect(hub_->options.stall_timeout);
  deadline_ = std::min(deadline_, request_deadline_);
  if (reader_->ExpectsContinue() && !std::exchange(continued_, true)) {
    writing_ = true;
    return stream_->Write(boost::asio::buffer(kContinue.data(), kContinue.size()),
                          {shared_from_this(), &Connection::OnContinueWritten});
  }
  Read();
}

void Connection::OnContinueWritten(error_code error, std::size_t bytes) {
  writing_ = false;
  if (phase_ == Phase::kClosed) return;
  if (error || bytes != kContinue.size()) return Close();
  Read();
}

void Connection::BeginRequest() {
  const HttpServerOptions& options = hub_->options;
  const bool is_known = caller_ == Caller::kKnown;
  phase_ = Phase::kReading;
  since_ = std::chrono::steady_clock::now();
  request_deadline_ =
      since_ + (is_known ? options.request_timeout
                         : std::min(options.request_timeout, options.stranger_timeout));
}

bool Connection::JudgeHead() {
  HeadVerdict verdict;
  if (hub_->options.check_head) verdict = hub_->options.check_head(reader_->head());
  const bool has_body = reader_->state() == RequestReader::State::kBody;
  if (verdict.refusal) {
    phase_ = Phase::kHandling;
    keep_alive_ = false;  // what still comes is not read
    HoldRequestBytes(0);
    head_only_ = reader_->head().method == "HEAD";
    Answer(++exchange_, std::move(*verdict.refusal));
    return false;
  }
  if (verdict.caller == Caller::kStranger) {
    if (!has_body) return true;
    Refuse(kBodyTooLarge);
    return false;
  }
  BecomeKnown();
  request_deadline_ = since_ + hub_->options.request_timeout;
  return true;
}

void Connection::Dispatch() {
  phase_ = Phase::kHandling;
  ExpectNothing();
  keep_alive_ = reader_->keep_alive() && !hub_->draining;
  framing_ = reader_->http_1_0() ? Framing::kToTheEnd : Framing::kChunked;
  HttpRequest request = reader_->Take();
  head_only_ = request.method == "HEAD";
  hub_->handler(
      std::make_shared<ExchangeOfConnection>(weak_from_this(), ++exchange_, std::move(request)));
}

void Connection::Refuse(int status) {
  phase_ = Phase::kHandling;
  keep_alive_ = false;
  head_only_ = false;
  HoldRequestBytes(0);
  reader_.emplace(hub_->options.max_body_bytes);  // its part of a body goes
  HttpResponse response{.status = status, .headers = {}, .body = {}};
  if (hub_->options.refusal) response = hub_->options.refusal(status);
  Answer(++exchange_, std::move(response));
}

void Connection::Answer(std::uint64_t exchange, HttpResponse response) {
  if (!IsCurrent(exchange, Phase::kHandling)) return;
  phase_ = Phase::kAnswering;
  out_ = ResponseHead(response, Framing::kLength, keep_alive_);
  body_ = head_only_ ? std::string() : std::move(response.body);
  if (body_.size() <= kSmallBody) {
    out_ += body_;
    Release(body_);
  }
  Write();
}

void Connection::AnswerStream(std::uint64_t exchange,
                              HttpResponse head,
                              std::unique_ptr<BodySource> source) {
  if (!IsCurrent(exchange, Phase::kHandling)) return;
  phase_ = Phase::kStreaming;
  if (framing_ == Framing::kToTheEnd) keep_alive_ = false;
  out_ = ResponseHead(head, framing_, keep_alive_);
  if (head_only_) return Write();
  source_ = std::move(source);
  piece_ = std::move(head.body);
  AppendPiece();
  if (hub_->draining) return Drain();
  Pump();
}

void Connection::Wake(std::uint64_t exchange) {
  if (!IsCurrent(exchange, Phase::kStreaming) || source_ == nullptr || wake_posted_) return;
  // Not at once: who wakes may be in the middle of something, and many changes are one answer.
  wake_posted_ = true;
  boost::asio::post(stream_->socket().get_executor(), [self = shared_from_this()] {
    self->wake_posted_ = false;
    if (!std::exchange(self->waiting_, false) || self->writing_ || self->source_ == nullptr) return;
    self->Pump();
  });
}

void Connection::Abandon(std::uint64_t exchange) {
  if (IsCurrent(exchange, Phase::kHandling)) Close();
}

void Connection::AppendPiece() {
  if (piece_.empty()) return;
  if (framing_ == Framing::kChunked) {
    AppendChunk(out_, piece_);
  } else {
    out_ += piece_;
  }
  piece_.clear();
}

// REQUIRES: nothing is being written.
void Connection::Pump() {
  using More = BodySource::More;
  while (source_ != nullptr && !waiting_ && out_.size() < kStreamBytes) {
    const More more = source_->Pull(piece_);
    AppendPiece();
    if (more == More::kAbort) return Close();
    waiting_ = more == More::kLater;
    if (more == More::kEnd) {
      source_.reset();
      if (framing_ == Framing::kChunked) AppendLastChunk(out_);
    }
  }
  if (!out_.empty() || source_ == nullptr) return Write();
  WaitForSource();
}

void Connection::WaitForSource() {
  ExpectNothing();
  Release(out_);
  Release(piece_);
  if (in_used_ == 0 && !reading_) Release(in_);
  Listen();
}

// For the end of the connection: it is how a watcher leaves.
void Connection::Listen() {
  if (reading_) return;
  if (in_used_ > kMaxBytesOfWatcher) return Close();
  Read();
}

void Connection::Write() {
  if (out_.empty() && body_.empty()) return OnAllWritten();
  Expect(hub_->options.stall_timeout);
  writing_ = true;
  const std::string& from = out_.empty() ? body_ : out_;
  stream_->Write(boost::asio::buffer(from.data() + written_, from.size() - written_),
                 {shared_from_this(), &Connection::OnWritten});
}

void Connection::OnWritten(error_code error, std::size_t bytes) {
  writing_ = false;
  if (phase_ == Phase::kClosed) return;
  if (error) return Close();
  written_ += bytes;
  std::string& from = out_.empty() ? body_ : out_;
  if (written_ == from.size()) {
    written_ = 0;
    if (&from == &out_) {
      out_.clear();
    } else {
      Release(body_);
    }
  }
  Write();
}

void Connection::OnAllWritten() {
  if (phase_ != Phase::kStreaming || source_ == nullptr) return FinishAnswer();
  if (waiting_) return WaitForSource();
  Pump();
}

void Connection::FinishAnswer() {
  if (hub_->draining) return Close();
  if (!keep_alive_) return Linger();
  phase_ = Phase::kIdle;
  since_ = std::chrono::steady_clock::now();
  HoldRequestBytes(0);
  continued_ = false;
  waiting_ = false;
  reader_.emplace(hub_->options.max_body_bytes);
  if (reading_) return Expect(IdleLimit());
  Parse();
}

// Closing now would make the system answer what still comes with a reset, which can overtake the
// answer.
void Connection::Linger() {
  phase_ = Phase::kLingering;
  Expect(kLingerTime);
  error_code ignored;
  stream_->socket().shutdown(TcpSocket::shutdown_send, ignored);
  if (reading_) return;
  in_used_ = 0;
  Read();
}

}  // namespace strata::net
