#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "net/byte_stream.h"
#include "net/http_server.h"
#include "net/http_wire.h"

// For the sources of this folder only: one peer of an HttpServer.
namespace strata::net {

class Connection;

// What the connections of a server share. Owns them: a connection that nobody reads, writes or
// answers is only here.
struct ConnectionHub {
  HttpServerOptions options;
  RequestHandler handler;  // empty once the server is gone
  std::set<std::shared_ptr<Connection>> connections;
  std::size_t strangers = 0;      // of the connections
  std::size_t request_bytes = 0;  // of all requests that are being read or handled
  bool draining = false;
  std::function<void()> on_empty;  // called when the last connection has gone, while draining
};

// Refuses requests until those that are left take no more than the limit.
void ShedRequests(ConnectionHub& hub);

// One request at a time: read, handled, answered; then the next. Everything happens on the loop.
class Connection final : public std::enable_shared_from_this<Connection> {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  struct OnIo {
    std::shared_ptr<Connection> connection;
    void (Connection::*step)(boost::system::error_code, std::size_t);
    void operator()(boost::system::error_code error, std::size_t bytes) const {
      (*connection.*step)(error, bytes);
    }
  };

  Connection(std::shared_ptr<ConnectionHub> hub, std::unique_ptr<ByteStream<OnIo>> stream);

  void Start();
  // Closes when whatever it waits for has taken too long.
  void CloseIfLate(Instant now);
  // Ends a stream properly and closes when nothing is under way; else after the answer.
  void Drain();
  void Close();
  // What speaks for a connection when there are too many; the least goes first.
  enum class Claim : std::uint8_t {
    kStranger,  // nothing
    kKnown,     // of a known caller, but nothing is under way
    kRequest,   // a part of a known caller's request has come
  };
  // Which of two connections goes first: the lesser one.
  using Rank = std::pair<Claim, Instant>;
  // None while it does something that is not to be cut off.
  [[nodiscard]] std::optional<Rank> RankForReplacement() const;
  // None unless it holds a part of a request.
  [[nodiscard]] std::optional<Rank> RankForRefusal() const;
  [[nodiscard]] HeadVerdict::Caller caller() const { return caller_; }
  // Answers the request that is being read with the error page for `status`; then closes.
  void Refuse(int status);

  // From the Exchange with that number; nothing when it is not the current one any more.
  void Answer(std::uint64_t exchange, HttpResponse response);
  void AnswerStream(std::uint64_t exchange, HttpResponse head, std::unique_ptr<BodySource> source);
  void Wake(std::uint64_t exchange);
  void Abandon(std::uint64_t exchange);

 private:
  enum class Phase : std::uint8_t {
    kHandshake,
    kIdle,       // between requests
    kReading,    // a part of a request is there
    kHandling,   // an Exchange has it
    kAnswering,  // a whole answer is being written
    kStreaming,  // an answer is being made and written
    kLingering,  // all is said; the peer may still be talking
    kClosed,
  };

  void OnHandshake(boost::system::error_code error, std::size_t bytes);
  void OnRead(boost::system::error_code error, std::size_t bytes);
  void OnContinueWritten(boost::system::error_code error, std::size_t bytes);
  void OnWritten(boost::system::error_code error, std::size_t bytes);
  void Read();
  void Parse();
  void BeginRequest();
  // False when the request is answered already.
  [[nodiscard]] bool JudgeHead();
  void Dispatch();
  void Write();
  void OnAllWritten();
  void Pump();
  void AppendPiece();
  void WaitForSource();
  void Listen();
  void FinishAnswer();
  void Linger();
  void Expect(Duration within);
  void BecomeKnown();
  void HoldRequestBytes(std::size_t bytes);
  [[nodiscard]] Duration IdleLimit() const;
  void ExpectNothing() { deadline_ = Instant::max(); }
  [[nodiscard]] bool IsCurrent(std::uint64_t exchange, Phase phase) const {
    return exchange == exchange_ && phase_ == phase;
  }

  std::shared_ptr<ConnectionHub> hub_;
  std::unique_ptr<ByteStream<OnIo>> stream_;
  Phase phase_ = Phase::kHandshake;
  Instant deadline_ = Instant::max();
  Instant request_deadline_ = Instant::max();  // of the request that is being read

  std::optional<RequestReader> reader_;
  std::string in_;  // what has come and is not parsed yet; during a read, with room behind it
  std::size_t in_used_ = 0;
  bool reading_ = false;
  bool much_ = false;  // the last read filled its room
  using Caller = HeadVerdict::Caller;
  Caller caller_ = Caller::kStranger;
  Instant since_{};                     // it was accepted, idle or began to read, whichever is last
  std::size_t held_request_bytes_ = 0;  // counted in hub_->request_bytes
  bool continued_ = false;              // "100 Continue" was sent

  std::uint64_t exchange_ = 0;  // the number of the current one
  bool head_only_ = false;
  bool keep_alive_ = true;
  Framing framing_ = Framing::kLength;

  std::string out_;   // first what is here,
  std::string body_;  // then what is here
  std::size_t written_ = 0;
  bool writing_ = false;

  std::unique_ptr<BodySource> source_;  // of a stream that has not ended
  std::string piece_;
  bool waiting_ = false;  // the source has nothing until it is woken
  bool wake_posted_ = false;
};

}  // namespace strata::net
