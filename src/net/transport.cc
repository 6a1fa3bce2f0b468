#include "net/transport.h"

#include <future>

namespace strata::net {

void Executor::Run(const std::function<void()>& task) {
  if (OnThread()) return task();
  std::promise<void> done;
  Post([&] {
    task();
    done.set_value();
  });
  done.get_future().wait();
}

}  // namespace strata::net
