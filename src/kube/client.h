#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/call.h"
#include "kube/credentials.h"
#include "kube/failure.h"
#include "kube/pacing.h"
#include "net/transport.h"

namespace strata::kube {

struct ClientOptions {
  TokenBucket::Limits write_rate;  // calls that change something, before they are sent
  Backoff::Limits backoff;
  std::shared_ptr<Credentials> credentials;  // none: certificates, or nothing
  Random random = SystemRandom();
};

// Carries out calls: adds credentials, paces writes, tries again where that is safe (DecideRetry)
// and after a 401 with renewed credentials, asks the leadership of a call before every attempt, and
// turns what the server says into Failures.
//
// Start is the way to have many calls under way, Do the simple way for one. Any number may be under
// way; they share the connections of a transport (net::HttpClientOptions::max_connections, 100:
// over HTTP/1.1 what goes beyond them waits in line, leases included). So bound what you start:
// thirty-two binds at a time leave room for everything else.
//
// From any thread. Both transports may be the same one, and must outlive the client.
class Client {
 public:
  using Done = std::function<void(Reply)>;

  Client(net::Transport& reads, net::Transport& writes, ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  // Gives what is under way up; every `done` has been called afterwards.
  ~Client();

  // Returns at once. `done` is called once, never inside Start, on the thread of the transport:
  // reads() for GET and HEAD, writes() for the rest. It must not block (a blocked thread renews no
  // lease and gives no event), and may start calls.
  void Start(Call call, Done done);

  // The same, waiting for the answer, with all that is tried again in between: up to some minutes
  // when the server is away. REQUIRES: not on a thread of the transports, nor in a `done`, in a
  // hook of LeaderLease or in the wake of a DeltaQueue, which run there.
  [[nodiscard]] Reply Do(Call call);

  // Gives up the calls that carry a leadership that is over: those under way are cancelled, those
  // that wait are not sent. On the thread of writes().
  void CancelLeaderCalls();

  // The request for one attempt, for those who read the answer as it comes.
  [[nodiscard]] net::ClientRequest Request(const Call& call) const;
  void RenewCredentials() const;

  [[nodiscard]] net::Transport& reads() const;
  [[nodiscard]] net::Transport& writes() const;

 private:
  struct Shared;
  class Operation;
  std::shared_ptr<Shared> shared_;
};

// Every object of a list, in pages, with kind and apiVersion; in one piece when the snapshot of the
// pages goes away half way. Blocks as Do does.
[[nodiscard]] tl::expected<std::vector<std::string>, Failure> ListObjects(Client& client,
                                                                          const Resource& resource,
                                                                          const std::string& ns,
                                                                          ListOptions options);

}  // namespace strata::kube
