#pragma once

#include <string>

namespace strata::kube {

// Who we are to the server, beside client certificates. From any thread; must not block.
class Credentials {
 public:
  Credentials() = default;
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;
  virtual ~Credentials() = default;

  // The value of the Authorization header as of now; "" for none.
  [[nodiscard]] virtual std::string Authorization() = 0;
  // The server does not know us (401): get new ones, for the next time.
  virtual void Renew() = 0;
};

}  // namespace strata::kube
