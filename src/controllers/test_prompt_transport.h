#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/transport.h"

namespace strata::controllers {

// A transport that answers at once, on the thread of its caller; waiting takes none of the test's
// time.
class PromptTransport final : public net::Transport {
 public:
  std::function<int(const net::HttpRequest&)> answer = [](const auto&) { return 201; };
  std::function<std::string(const net::HttpRequest&)> body = [](const auto&) { return "{}"; };
  std::vector<net::HttpRequest> sent;

  [[nodiscard]] net::SteadyTime Now() const override { return now_; }
  [[nodiscard]] bool OnThread() const override { return false; }
  void Post(std::function<void()> task) override { task(); }
  net::TimerId After(Duration delay, std::function<void()> task) override {
    now_ += delay;
    task();
    return {};
  }
  void CancelTimer(net::TimerId /*timer*/) override {}
  net::RequestId Send(net::ClientRequest request,
                      std::shared_ptr<net::Receiver> receiver) override {
    sent.push_back(request.message);
    receiver->OnHead({answer(request.message), {}, ""});
    receiver->OnBody(body(request.message));
    receiver->OnEnd({});
    return {};
  }
  void Cancel(net::RequestId /*request*/) override {}
  void CloseConnections() override {}

 private:
  net::SteadyTime now_{};
};

}  // namespace strata::controllers
