#pragma once

#include <memory>

#include "apiserver/resources/resource.h"
#include "apiserver/state/options.h"
#include "apiserver/store/object_store.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/http_server.h"

namespace strata::apiserver {

// A Kubernetes API server behind an HTTP server: what a request means, and what it is answered.
// Authentication comes before it; here every caller may do everything.
//
// Lives on one loop; everything it is given must outlive it.
class ApiServer {
 public:
  ApiServer(ObjectStore& store,
            Timers& timers,
            const Clock& clock,
            RandomSource& random,
            ApiServerOptions options);
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;
  ~ApiServer();

  // Writes what a new cluster starts with (namespaces, queues, Volcano's
  // CustomResourceDefinitions) where it is missing, and serves every definition that the store
  // holds. Before the first Handle.
  [[nodiscard]] Status Start();

  void Handle(std::shared_ptr<net::Exchange> exchange);

  // The Status that a refusal of the HTTP layer (413, 400, ...) is answered with.
  [[nodiscard]] static net::HttpResponse Refusal(int status);

  [[nodiscard]] const ResourceTable& table() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace strata::apiserver
