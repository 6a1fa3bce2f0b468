#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "apiserver/api_server.h"
#include "net/event_loop.h"
#include "obs/log.h"

namespace strata {

// The logs of the components that run in this process. The API server serves them as the logs of
// the pods that represent the components.
class ComponentLogs {
 public:
  // The lines of the component that `pod` represents; made on the first call. Call it before the
  // server runs.
  [[nodiscard]] obs::RecentLines& Of(const std::string& pod);

  // Lets `server`, which runs on `loop`, serve the logs. This object must outlive both, and the
  // components.
  void ServeBy(apiserver::ApiServerOptions& server, net::EventLoop& loop);

 private:
  static constexpr std::size_t kKeptBytes = 4UL << 20U;

  std::map<std::string, obs::RecentLines> by_pod_;
};

}  // namespace strata
