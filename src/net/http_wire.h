#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/http_message.h"

// The text of HTTP/1.1: requests out of bytes, answers into bytes. No sockets.
namespace strata::net {

// Reads one request, however its bytes are cut.
class RequestReader {
 public:
  explicit RequestReader(std::size_t max_body_bytes);
  RequestReader(const RequestReader&) = delete;
  RequestReader& operator=(const RequestReader&) = delete;
  ~RequestReader();

  enum class State : std::uint8_t {
    kHead,     // wants more bytes of the head
    kBody,     // the head is there, the body not yet
    kDone,     // see Take
    kRefused,  // see refusal
  };

  // Takes what it can from the front of `bytes` and returns how many that was; the rest comes again
  // with the next call. Stops at the end of the head, so that it can be judged before any of the
  // body is read: in kBody, call again with the rest. REQUIRES: kHead or kBody.
  std::size_t Feed(std::string_view bytes);
  [[nodiscard]] State state() const;
  // 400, 413 (body too large) or 431 (head above 64 KiB).
  [[nodiscard]] int refusal() const;
  // From kBody on: the request without its body.
  [[nodiscard]] const HttpRequest& head() const;
  // How much of the body has come.
  [[nodiscard]] std::size_t body_bytes() const;
  // In kBody: the peer wants to hear "100 Continue" before it sends the body.
  [[nodiscard]] bool ExpectsContinue() const;

  // In kDone. Take may be called once, the others before it.
  [[nodiscard]] bool keep_alive() const;
  [[nodiscard]] bool http_1_0() const;
  [[nodiscard]] HttpRequest Take();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

enum class Framing : std::uint8_t {
  kLength,   // Content-Length
  kChunked,  // pieces by AppendChunk
  kToTheEnd  // as chunked, for peers of HTTP/1.0: the end of the connection ends the body
};

// The head of `response`, up to the empty line. Control characters in header values become blanks.
[[nodiscard]] std::string ResponseHead(const HttpResponse& response,
                                       Framing framing,
                                       bool keep_alive);

inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// REQUIRES: `piece` is not empty; an empty one would end the body.
void AppendChunk(std::string& out, std::string_view piece);
void AppendLastChunk(std::string& out);

}  // namespace strata::net
