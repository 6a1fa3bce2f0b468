#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "kube/client.h"
#include "kube/pacing.h"
#include "net/http_server.h"
#include "obs/log.h"
#include "page/answers.h"

namespace strata::page {

struct PageOptions {
  std::string host = "127.0.0.1";  // REQUIRES with kToken: a loopback address
  std::uint16_t port = 0;          // 0 takes a free one
  // What lets somebody ask: `token`, or rights at the API server, for what these allow to list.
  enum class Access : std::uint8_t { kToken, kKubernetes } access = Access::kToken;
  std::string token;                                       // "": everybody of this machine
  std::optional<net::ServerCertificate> certificate = {};  // none: plain HTTP
  HelloFacts facts;
  std::string conf_map = "volcano-system/volcano-scheduler-configmap";  // the scheduler's
  // When it begins to look at the cluster. A page that nobody opens costs nothing with kWhenAsked;
  // the first one to open it waits a moment.
  enum class Begin : std::uint8_t { kAtOnce, kWhenAsked } begin = Begin::kAtOnce;
  // Called once, on the thread of Run: it listens; it has seen the cluster. May be empty.
  std::function<void(const std::string& url)> listening = {};
  std::function<void(const std::string& url)> ready = {};
  kube::Random random = kube::SystemRandom();  // spreads retries
};

// The page of a running cluster: what informers see, as columns and single answers over HTTP, with
// a stream of changes. Writes nothing.
//
// What is known of the cluster lives on the thread of Run; connections have a thread of their own.
class PageServer {
 public:
  // All that it is given must outlive it.
  PageServer(kube::Client& client, PageOptions options, obs::Log& log, const Clock& clock);
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;
  ~PageServer();

  // Serves until it is asked to stop. kUnavailable when the address is in use.
  [[nodiscard]] Status Run(const std::stop_token& stop);

  // From any thread: what /metrics shows; whether the cluster has been seen and no watch is
  // overdue; the thread that hangs, "" when none does.
  [[nodiscard]] std::string Metrics() const;
  [[nodiscard]] bool IsReady() const;
  [[nodiscard]] std::string LateThread() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::page
