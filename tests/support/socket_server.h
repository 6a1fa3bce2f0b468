#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"

namespace strata::testing {

struct RawRequest {
  std::string method;
  std::string target;
  std::string head;  // all lines, as sent
  std::string body;

  [[nodiscard]] std::string Header(std::string_view name) const {
    for (const std::string_view line : Split(head, '\n')) {
      const std::size_t colon = line.find(':');
      if (colon != std::string_view::npos && LowerCase(line.substr(0, colon)) == name) {
        return std::string(Trim(line.substr(colon + 1)));
      }
    }
    return "";
  }
};

// One accepted connection. Every call blocks; false or nothing when the peer or the server has
// gone.
class RawConnection {
 public:
  explicit RawConnection(int socket) : socket_(socket) {}

  // The next request, with a body where Content-Length says so.
  std::optional<RawRequest> Read() {
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Fill()) return std::nullopt;
    }
    RawRequest request;
    request.head = buffer_.substr(0, end);
    buffer_.erase(0, end + 4);
    const std::vector<std::string_view> words = Split(request.head, ' ');
    request.method = words[0];
    if (words.size() > 1) request.target = words[1];
    const auto length = WholeNumber(request.Header("content-length"), 1 << 30).value_or(0);
    while (buffer_.size() < static_cast<std::size_t>(length)) {
      if (!Fill()) return std::nullopt;
    }
    request.body = buffer_.substr(0, static_cast<std::size_t>(length));
    buffer_.erase(0, static_cast<std::size_t>(length));
    return request;
  }

  bool Write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  bool Answer(int status, std::string_view body, std::string_view headers = "") const {
    return Write("HTTP/1.1 " + std::to_string(status) +
                 " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
                 std::string(headers) + "\r\n" + std::string(body));
  }
  bool StartChunked() const {
    return Write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  }
  bool Chunk(std::string_view body) const {
    std::array<char, 20> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", body.size());
    return Write(size.data() + std::string(body) + "\r\n");
  }

  // No more bytes from us; the peer may go on.
  void HalfClose() const { shutdown(socket_, SHUT_WR); }
  // The next close is a TCP reset.
  void ResetOnClose() const {
    const linger now{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  }
  // Until the peer has closed its side, or the server stops.
  void WaitForPeer() {
    while (Fill()) {
    }
  }

 private:
  bool Fill() {
    std::array<char, 65536> bytes{};
    const ssize_t count = recv(socket_, bytes.data(), bytes.size(), 0);
    if (count <= 0) return false;
    buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
  }

  int socket_;
  std::string buffer_;
};

// A server of plain sockets on loopback, which can misbehave in every way. A thread per connection
// runs the handler, and the connection is closed when that returns.
class SocketServer {
 public:
  using Handler = std::function<void(RawConnection&)>;

  explicit SocketServer(Handler handler)
      : handler_(std::move(handler)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    CHECK(bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    CHECK(listen(listener_, 128) == 0);
    CHECK(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { AcceptAll(); });
  }
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;
  ~SocketServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int open : sockets_) shutdown(open, SHUT_RDWR);
    }
    for (std::thread& thread : threads_) thread.join();
    close(listener_);
  }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] int accepted() {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(threads_.size());
  }

 private:
  void AcceptAll() {
    while (true) {
      const int peer = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) return;
      const std::lock_guard lock(mutex_);
      sockets_.push_back(peer);
      threads_.emplace_back([this, peer] {
        RawConnection connection(peer);
        handler_(connection);
        const std::lock_guard inner(mutex_);
        std::erase(sockets_, peer);
        close(peer);
      });
    }
  }

  Handler handler_;
  int listener_;
  std::uint16_t port_ = 0;
  std::thread acceptor_;
  std::mutex mutex_;
  std::vector<int> sockets_;
  std::vector<std::thread> threads_;
};

}  // namespace strata::testing
