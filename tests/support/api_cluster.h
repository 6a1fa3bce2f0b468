#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/api_server.h"
#include "apiserver/loop_timers.h"
#include "apiserver/store/object_store_factory.h"
#include "kube/connection.h"
#include "net/certificate.h"

namespace strata::testing {

class SeededRandom final : public apiserver::RandomSource {
 public:
  std::uint64_t Next() override { return engine_(); }

 private:
  std::mt19937_64 engine_{20'261'115};
};

// An API server on a thread of its own, and the configuration that a client needs.
class ApiCluster {
 public:
  ApiCluster() : store_(apiserver::MakeMemoryObjectStore()), timers_(loop_) {
    api_.emplace(*store_, timers_, kube::SystemClock(), random_, apiserver::ApiServerOptions{});
    EXPECT_TRUE(api_->Start());
    const auto authority = net::MakeAuthority("test", kube::SystemClock().Now());
    const std::vector<std::string> hosts = {"127.0.0.1"};
    net::HttpServerOptions options;
    options.certificate = *net::IssueCertificate(*authority, hosts, kube::SystemClock().Now());
    options.refusal = apiserver::ApiServer::Refusal;
    server_ = std::move(*net::HttpServer::Listen(
        loop_, options, [this](std::shared_ptr<net::Exchange> e) { api_->Handle(std::move(e)); }));
    config_.cluster.server = "https://127.0.0.1:" + std::to_string(server_->port());
    config_.cluster.ca.text = authority->certificate_pem;
    config_.origin = "test";
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ApiCluster(const ApiCluster&) = delete;
  ApiCluster& operator=(const ApiCluster&) = delete;
  ~ApiCluster() {
    loop_.Stop();
    thread_.join();
  }

  [[nodiscard]] const kube::ConnectionConfig& config() const { return config_; }
  [[nodiscard]] std::unique_ptr<kube::Connection> Connect() const {
    auto connection = kube::Connection::Open(config_, {}, kube::SystemSurroundings());
    EXPECT_TRUE(connection) << connection.error().message;
    return std::move(*connection);
  }

 private:
  net::EventLoop loop_;
  std::unique_ptr<apiserver::ObjectStore> store_;
  apiserver::LoopTimers timers_;
  SeededRandom random_;
  std::optional<apiserver::ApiServer> api_;
  std::unique_ptr<net::HttpServer> server_;
  kube::ConnectionConfig config_;
  std::thread thread_;
};

}  // namespace strata::testing
