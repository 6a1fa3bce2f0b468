#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "apiserver/api_server.h"
#include "apiserver/store/object_store_factory.h"
#include "tests/histories/random.h"
#include "tests/histories/timeline.h"

namespace strata::histories {

// The API server of a history: the real one, over a store in memory, without sockets. Whatever it
// is asked takes effect at once; delays and faults are the network's (link.h).
class Server {
 public:
  // `events` is how many changes of a collection watchers may be behind before they get 410.
  Server(Timeline& timeline, Random random, std::size_t events);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  void Handle(std::shared_ptr<net::Exchange> exchange) { server_.Handle(std::move(exchange)); }
  [[nodiscard]] apiserver::ObjectStore& store() { return *store_; }

  // For users and kubelets, whom no fault hits. The status of the answer.
  int Ask(std::string_view method, std::string_view path, const nlohmann::json& body);
  // An object, or null when there is none.
  [[nodiscard]] nlohmann::json Get(std::string_view path);

 private:
  net::HttpResponse Answer(net::HttpRequest request);

  std::unique_ptr<apiserver::Timers> timers_;
  std::unique_ptr<apiserver::RandomSource> random_;
  std::unique_ptr<apiserver::ObjectStore> store_;
  apiserver::ApiServer server_;
};

}  // namespace strata::histories
