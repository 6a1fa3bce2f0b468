#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cstddef>
#include <memory>
#include <utility>

// For the sources of this folder only: a connection's bytes, through TLS or as they are.
namespace strata::net {

using TcpSocket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

// `Handler` is called as handler(error, bytes), on the loop, never before the call returns. One
// read and one write may be under way at a time.
template <typename Handler>
class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  virtual void Handshake(Handler handler) = 0;
  virtual void Read(boost::asio::mutable_buffer into, Handler handler) = 0;
  virtual void Write(boost::asio::const_buffer from, Handler handler) = 0;
  [[nodiscard]] virtual TcpSocket& socket() = 0;
};

template <typename Handler>
class PlainStream final : public ByteStream<Handler> {
 public:
  explicit PlainStream(TcpSocket socket) : socket_(std::move(socket)) {}

  void Handshake(Handler handler) override {
    boost::asio::post(socket_.get_executor(), [handler = std::move(handler)]() mutable {
      handler(boost::system::error_code(), 0);
    });
  }
  void Read(boost::asio::mutable_buffer into, Handler handler) override {
    socket_.async_read_some(into, std::move(handler));
  }
  void Write(boost::asio::const_buffer from, Handler handler) override {
    socket_.async_write_some(from, std::move(handler));
  }
  TcpSocket& socket() override { return socket_; }

 private:
  TcpSocket socket_;
};

template <typename Handler>
class TlsStream final : public ByteStream<Handler> {
 public:
  TlsStream(TcpSocket socket, boost::asio::ssl::context& context)
      : stream_(std::move(socket), context) {}

  void Handshake(Handler handler) override {
    stream_.async_handshake(boost::asio::ssl::stream_base::server,
                            [handler = std::move(handler)](
                                boost::system::error_code error) mutable { handler(error, 0); });
  }
  void Read(boost::asio::mutable_buffer into, Handler handler) override {
    stream_.async_read_some(into, std::move(handler));
  }
  void Write(boost::asio::const_buffer from, Handler handler) override {
    stream_.async_write_some(from, std::move(handler));
  }
  TcpSocket& socket() override { return stream_.next_layer(); }

 private:
  boost::asio::ssl::stream<TcpSocket> stream_;
};

}  // namespace strata::net
