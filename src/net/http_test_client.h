#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "net/event_loop.h"
#include "net/http_server.h"

namespace strata::net {

// A socket that says exactly what it is told, to see what is answered.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { Close(); }

  void Send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void Close() {
    if (socket_ >= 0) close(std::exchange(socket_, -1));
  }
  [[nodiscard]] int descriptor() const { return socket_; }

  // Everything up to and with `mark`; up to the end of the connection when it does not come. What
  // was read beyond it comes first the next time.
  std::string ReadTo(std::string_view mark) {
    std::size_t from = at_;
    for (;;) {
      const std::size_t found = in_.find(mark, from);
      if (found != std::string::npos) return Take(found + mark.size() - at_);
      const std::size_t looked_at = in_.size() - at_;
      if (!ReadMore()) return Take(in_.size() - at_);
      from = at_ + (looked_at < mark.size() ? 0 : looked_at - mark.size() + 1);
    }
  }
  std::string ReadToEnd() {
    while (ReadMore()) {
    }
    return Take(in_.size() - at_);
  }
  // Head and body of an answer with Content-Length.
  std::string ReadAnswer() {
    std::string answer = ReadTo("\r\n\r\n");
    const std::string_view name = "Content-Length: ";
    const std::size_t at = answer.find(name);
    if (at == std::string::npos) return answer;
    const std::size_t length = std::stoul(answer.substr(at + name.size()));
    while (in_.size() - at_ < length && ReadMore()) {
    }
    return answer + Take(std::min(length, in_.size() - at_));
  }

 private:
  std::string Take(std::size_t bytes) {
    std::string text = in_.substr(at_, bytes);
    at_ += bytes;
    return text;
  }
  // False at the end of the connection, and when nothing came for a minute.
  bool ReadMore() {
    pollfd wait{.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, 60'000) != 1) {
      ADD_FAILURE() << "nothing came";
      return false;
    }
    in_.erase(0, std::exchange(at_, 0));
    std::array<char, 65536> buffer{};
    const ssize_t got = recv(socket_, buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    in_.append(buffer.data(), static_cast<std::size_t>(got));
    return true;
  }

  int socket_;
  std::string in_;
  std::size_t at_ = 0;  // before it, everything was taken
};

// A server on a thread of its own. `handler` runs there.
class ServerThread {
 public:
  explicit ServerThread(RequestHandler handler, HttpServerOptions options = {}) {
    Result<std::unique_ptr<HttpServer>> server =
        HttpServer::Listen(loop_, std::move(options), std::move(handler));
    EXPECT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;
  ~ServerThread() { Stop(); }

  // Ends every connection and the thread; the loop stays, but runs nothing any more.
  void Stop() {
    if (!thread_.joinable()) return;
    loop_.Post([this] {
      server_.reset();
      loop_.Stop();
    });
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }
  [[nodiscard]] EventLoop& loop() { return loop_; }
  [[nodiscard]] HttpServer& server() { return *server_; }

  // Runs `task` on the loop and waits for it.
  void OnLoop(const std::function<void()>& task) {
    std::promise<void> done;
    loop_.Post([&] {
      task();
      done.set_value();
    });
    done.get_future().wait();
  }

 private:
  EventLoop loop_;
  std::unique_ptr<HttpServer> server_;
  std::thread thread_;
};

}  // namespace strata::net
