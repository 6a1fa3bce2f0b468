#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "apiserver/api_server.h"
#include "net/event_loop.h"
#include "obs/log.h"

namespace strata {

// The logs of the components that run inside this process, as the API server shows them: by the
// name of the pod that stands for the component.
class ComponentLogs {
 public:
  // The lines of a component; made on the first call. Before the server runs.
  [[nodiscard]] obs::RecentLines& Of(const std::string& pod);

  // For `server`, whose loop is `loop`. Both, and the components, end before this does.
  void ShowBy(apiserver::ApiServerOptions& server, net::EventLoop& loop);

 private:
  static constexpr std::size_t kKeptBytes = 4UL << 20U;

  std::map<std::string, obs::RecentLines> by_pod_;
};

}  // namespace strata
