#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "kube/credentials.h"
#include "kube/kubeconfig.h"
#include "net/transport.h"

namespace strata::kube {

// The same as long as the process lives.
class FixedCredentials final : public Credentials {
 public:
  explicit FixedCredentials(std::string authorization) : authorization_(std::move(authorization)) {}
  [[nodiscard]] std::string Authorization() override { return authorization_; }
  void Renew() override {}

 private:
  std::string authorization_;
};

// "Basic ..." of a name and a password.
[[nodiscard]] std::string BasicAuthorization(const std::string& username,
                                             const std::string& password);

// A token in a file that somebody renews: read again when asked for after a minute, or when the
// server refused it (every second at most). A file that cannot be read leaves the last token.
class TokenFile final : public Credentials {
 public:
  using Now = std::function<net::SteadyTime()>;
  // kUnavailable or kNotFound when it cannot be read now, kInvalidArgument when it is empty.
  [[nodiscard]] static Result<std::shared_ptr<TokenFile>> Open(std::string path,
                                                               Surroundings outside,
                                                               Now now);
  [[nodiscard]] std::string Authorization() override;
  void Renew() override;

 private:
  TokenFile(std::string path, Surroundings outside, Now now)
      : path_(std::move(path)), outside_(std::move(outside)), now_(std::move(now)) {}
  [[nodiscard]] Status Read() REQUIRES(mutex_);

  const std::string path_;
  const Surroundings outside_;
  const Now now_;
  Mutex mutex_;
  std::string token_ GUARDED_BY(mutex_);
  net::SteadyTime read_at_ GUARDED_BY(mutex_);
};

}  // namespace strata::kube
