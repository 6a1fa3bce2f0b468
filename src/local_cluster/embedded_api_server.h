#pragma once

#include <functional>
#include <memory>
#include <string>

#include "apiserver/api_server.h"
#include "base/result.h"
#include "local_cluster/kubeconfig_file.h"
#include "net/event_loop.h"

namespace strata {

struct ServerSettings {
  std::string listen = "127.0.0.1:0";
  std::string data_dir;    // "" keeps objects in memory
  std::string kubeconfig;  // where to write it; "" for DefaultKubeconfigPath
  bool plain_http = false;
  std::string audit_log;         // file for the requests that change objects; "" for none
  bool new_credentials = false;  // makes a new CA and token, whatever data_dir has
};

// An API server in this process, with its store, certificate and kubeconfig: all of
// `strata apiserver`, and the server of `strata up`. SIGINT and SIGTERM end it.
class EmbeddedApiServer {
 public:
  struct Hooks {
    // Called once, on the loop: the server accepts connections and the kubeconfig is written.
    std::function<void()> serving;
    // Called on the loop at the first SIGINT or SIGTERM, and must lead to a call of End. When
    // empty, the server ends by itself.
    std::function<void()> interrupted;
  };

  // `settings` must outlive it.
  explicit EmbeddedApiServer(const ServerSettings& settings);
  EmbeddedApiServer(const EmbeddedApiServer&) = delete;
  EmbeddedApiServer& operator=(const EmbeddedApiServer&) = delete;
  ~EmbeddedApiServer();

  // Serves on the calling thread until End or a second signal. Returns the error that prevented it
  // from serving, or the status that End was given.
  [[nodiscard]] Status Run(apiserver::ApiServerOptions options, Hooks hooks);

  // Answers the requests in flight, ends the streams, and lets Run return. May be called from any
  // thread; Run returns the first error.
  void End(Status outcome);

  [[nodiscard]] net::EventLoop& loop();
  // Valid once `serving` was called.
  [[nodiscard]] const ServerAccess& access() const;
  // Prints "ready https://127.0.0.1:8443 kubeconfig=FILE" to standard output.
  void PrintReady() const;
  [[nodiscard]] const std::string& kubeconfig() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata
