#include "net/http_wire.h"

#include <boost/asio/buffers_iterator.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <utility>

#include "base/check.h"
#include "net/chunk_reader.h"

namespace strata::net {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using beast::error_code;

constexpr std::uint32_t kMaxHeadBytes = 64 * 1024;

std::string Text(beast::string_view view) {
  return {view.data(), view.size()};
}

int RefusalOf(const error_code& error) {
  if (error == http::error::body_limit) return 413;
  if (error == http::error::header_limit || error == http::error::buffer_overflow) return 431;
  return 400;
}

// A proxy asks for "http://host/path"; the rest of us for "/path".
std::string_view WithoutHost(std::string_view target) {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  const std::size_t path = target.find('/', scheme + 3);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

// Only chunks, and nothing below them: a proxy in front of us might see another end.
bool KnowsEncoding(const http::request_parser<http::string_body>& parser) {
  const auto& head = parser.get();
  if (head.count(http::field::transfer_encoding) == 0) return true;
  return head.version() >= 11 && beast::iequals(head[http::field::transfer_encoding], "chunked");
}

HttpRequest HeadOf(const http::request<http::string_body>& from) {
  HttpRequest head;
  head.method = Text(from.method_string());
  const auto sent = from.target();
  const std::string_view target = WithoutHost({sent.data(), sent.size()});
  const std::size_t mark = target.find('?');
  head.path = target.substr(0, mark);
  if (mark != std::string_view::npos) head.query = target.substr(mark + 1);
  for (const auto& field : from) {
    head.headers.push_back({.name = Text(field.name_string()), .value = Text(field.value())});
  }
  return head;
}

std::string HeaderText(std::string_view value) {
  std::string text(value);
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = ' ';
  }
  return text;
}

}  // namespace

// Beast reads the head and a body that has a length. Chunks are read by us: its parser of them
// asserts on some that are cut badly, and this is what strangers can send before any token is
// checked.
struct RequestReader::Impl {
  explicit Impl(std::size_t max_body_bytes) : chunks(max_body_bytes) {
    parser.header_limit(kMaxHeadBytes);
    parser.body_limit(max_body_bytes);
  }

  std::size_t FeedBeast(std::string_view bytes) {
    error_code error;
    const std::size_t taken =
        parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    if (error && error != http::error::need_more) {
      Refuse(RefusalOf(error));
      return taken;
    }
    const bool ends_head = state == State::kHead && parser.is_header_done();
    if (ends_head && !KnowsEncoding(parser)) {
      Refuse(400);
      return taken;
    }
    if (ends_head) head = HeadOf(parser.get());
    if (parser.is_done()) {
      state = State::kDone;
    } else if (parser.is_header_done()) {
      state = State::kBody;
      parser.eager(true);
    }
    return taken;
  }

  std::size_t FeedChunks(std::string_view bytes) {
    const std::size_t taken = chunks.Feed(bytes);
    if (chunks.state() == ChunkReader::State::kDone) state = State::kDone;
    if (chunks.state() == ChunkReader::State::kBad) Refuse(400);
    if (chunks.state() == ChunkReader::State::kTooLarge) Refuse(413);
    return taken;
  }

  void Refuse(int status) {
    state = State::kRefused;
    refusal = status;
  }

  http::request_parser<http::string_body> parser;
  ChunkReader chunks;
  HttpRequest head;
  State state = State::kHead;
  int refusal = 0;
};

RequestReader::RequestReader(std::size_t max_body_bytes)
    : impl_(std::make_unique<Impl>(max_body_bytes)) {}

RequestReader::~RequestReader() = default;

std::size_t RequestReader::Feed(std::string_view bytes) {
  CHECK(impl_->state == State::kHead || impl_->state == State::kBody);
  const bool in_chunks = impl_->state == State::kBody && impl_->parser.chunked();
  return in_chunks ? impl_->FeedChunks(bytes) : impl_->FeedBeast(bytes);
}

RequestReader::State RequestReader::state() const {
  return impl_->state;
}

int RequestReader::refusal() const {
  return impl_->refusal;
}

const HttpRequest& RequestReader::head() const {
  return impl_->head;
}

std::size_t RequestReader::body_bytes() const {
  return impl_->parser.get().body().size() + impl_->chunks.body().size();
}

bool RequestReader::ExpectsContinue() const {
  if (impl_->state != State::kBody) return false;
  const auto& request = impl_->parser.get();
  return request.version() >= 11 && request.body().empty() && impl_->chunks.body().empty() &&
         beast::iequals(request[http::field::expect], "100-continue");
}

bool RequestReader::keep_alive() const {
  return impl_->parser.keep_alive();
}

bool RequestReader::http_1_0() const {
  return impl_->parser.get().version() < 11;
}

HttpRequest RequestReader::Take() {
  CHECK(impl_->state == State::kDone);
  HttpRequest request = std::move(impl_->head);
  request.body =
      std::move(impl_->parser.chunked() ? impl_->chunks.body() : impl_->parser.get().body());
  return request;
}

std::string ResponseHead(const HttpResponse& response, Framing framing, bool keep_alive) {
  http::response<http::empty_body> head;
  head.version(11);
  head.result(static_cast<unsigned>(response.status));
  for (const Header& header : response.headers) {
    head.insert(HeaderText(header.name), HeaderText(header.value));
  }
  if (framing == Framing::kLength) head.content_length(response.body.size());
  if (framing == Framing::kChunked) head.chunked(true);
  head.keep_alive(keep_alive && framing != Framing::kToTheEnd);
  http::response_serializer<http::empty_body> serializer(head);
  serializer.split(true);  // the head alone, also where an empty body would follow
  std::string text;
  error_code error;
  serializer.next(error, [&text](error_code&, const auto& buffers) {
    text = beast::buffers_to_string(buffers);
  });
  CHECK(!error);
  return text;
}

void AppendChunk(std::string& out, std::string_view piece) {
  CHECK(!piece.empty());
  out += beast::buffers_to_string(http::chunk_header(piece.size()));
  out += piece;
  out += "\r\n";
}

void AppendLastChunk(std::string& out) {
  out += beast::buffers_to_string(http::make_chunk_last());
}

}  // namespace strata::net
