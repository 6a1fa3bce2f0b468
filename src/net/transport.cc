#include "net/transport.h"

#include <future>

namespace strata::net {

void Executor::Run(const std::function<void()>& task) {
  if (OnThread()) return task();
  // Shared: the setter may still be inside when the waiter has left.
  const auto done = std::make_shared<std::promise<void>>();
  Post([&task, done] {
    task();
    done->set_value();
  });
  done->get_future().wait();
}

}  // namespace strata::net
