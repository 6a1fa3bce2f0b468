#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/mailbox.h"
#include "net/transport.h"
#include "page/scope.h"

namespace strata::page {

// A user, and what that user may see.
struct Viewer {
  std::string user;
  Scope scope;
};

// What is said about a request.
struct Permit {
  enum class Kind : std::uint8_t {
    kGranted,
    kUnknown,
    kForbidden,
    kUnavailable
  } kind = Kind::kUnavailable;
  Viewer viewer;        // of kGranted
  std::string message;  // otherwise

  [[nodiscard]] bool operator==(const Permit& other) const {
    return kind == other.kind && viewer.user == other.viewer.user &&
           viewer.scope.Key() == other.viewer.scope.Key();
  }
};

// Asks the API server who the owner of a token is (TokenReview), and what that user may list
// (SubjectAccessReview): nodes and HyperNodes, without which there is nothing to show; PodGroups
// and pods of all namespaces, else of those that the viewer names; queues. What it says is
// remembered for a minute, a refusal for ten seconds; tokens are kept as digests. For the thread
// that serves the mailbox.
class Reviewer {
 public:
  static constexpr std::size_t kMaxNamespaces = 20;
  static constexpr std::size_t kMaxUsers = 1024;
  using Done = std::function<void(const Permit&)>;

  Reviewer(kube::Client& client, std::shared_ptr<kube::Mailbox> mailbox)
      : client_(client), mailbox_(std::move(mailbox)) {}
  Reviewer(const Reviewer&) = delete;
  Reviewer& operator=(const Reviewer&) = delete;
  ~Reviewer() = default;

  // `done` is called once, at once where the answer is remembered. At most kMaxNamespaces
  // namespaces count.
  void Ask(const std::string& token,
           const std::set<std::string, std::less<>>& namespaces,
           Done done);

  [[nodiscard]] std::size_t remembered() const { return known_.size(); }

 private:
  struct Known {
    Permit permit;
    net::SteadyTime until;
  };
  class Case;

  void Finish(const std::string& key, const Permit& permit);
  void MakeRoom(net::SteadyTime now);

  kube::Client& client_;
  std::shared_ptr<kube::Mailbox> mailbox_;
  std::map<std::string, Known> known_;             // by digest of the token and namespaces
  std::map<std::string, std::vector<Done>> asks_;  // under way
};

}  // namespace strata::page
