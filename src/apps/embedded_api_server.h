#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apiserver/api_server.h"
#include "apps/flags.h"
#include "apps/kubeconfig_file.h"
#include "base/result.h"
#include "net/event_loop.h"

namespace strata {

// An API server in this process, with its store, certificate and kubeconfig: what `apiserver` is,
// and what the other parts of `up` talk to. Signals end it.
class EmbeddedApiServer {
 public:
  struct Hooks {
    // Once, on the loop: clients may come, and the kubeconfig is written.
    std::function<void()> serving;
    // The first SIGINT or SIGTERM, on the loop. Whoever has one calls End; none: it ends by itself.
    std::function<void()> interrupted;
  };

  // `flags` must outlive it.
  explicit EmbeddedApiServer(const ServerFlags& flags);
  EmbeddedApiServer(const EmbeddedApiServer&) = delete;
  EmbeddedApiServer& operator=(const EmbeddedApiServer&) = delete;
  ~EmbeddedApiServer();

  // Serves on the calling thread until End or a second signal. What it could not open, or what End
  // was given.
  [[nodiscard]] Status Run(apiserver::ApiServerOptions options, Hooks hooks);

  // Answers what is under way, ends the streams, and lets Run return. From any thread; the first
  // error counts.
  void End(Status outcome);

  [[nodiscard]] net::EventLoop& loop();
  // From `serving` on.
  [[nodiscard]] const ServerAccess& access() const;
  // "ready https://127.0.0.1:8443 kubeconfig=FILE" to standard output.
  void PrintReady() const;
  [[nodiscard]] const std::string& kubeconfig() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata
