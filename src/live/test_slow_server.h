#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/client.h"
#include "kube/test_fake_transport.h"

namespace strata::live {

// A server that keeps requests until it is told to answer them.
struct SlowServer {
  SlowServer() {
    transport.on_request = [this](net::RequestId id, const net::ClientRequest& request) {
      open.emplace_back(id, request.message);
    };
    kube::ClientOptions options;
    options.random = [] { return 0.5; };
    client = std::make_unique<kube::Client>(transport, transport, std::move(options));
  }

  // Answers the request that has waited longest.
  void Answer(int status, const std::string& body = "{}") {
    const net::RequestId id = open.front().first;
    open.erase(open.begin());
    transport.Respond(id, status, body);
    transport.Advance(Duration(0));
  }
  void Settle() { transport.Advance(Duration(0)); }
  [[nodiscard]] std::vector<std::string> OpenPaths() const {
    std::vector<std::string> paths;
    for (const auto& [id, message] : open) paths.push_back(message.method + " " + message.path);
    return paths;
  }

  kube::FakeTransport transport;
  std::vector<std::pair<net::RequestId, net::HttpRequest>> open;
  std::unique_ptr<kube::Client> client;
};

}  // namespace strata::live
