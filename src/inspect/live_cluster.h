#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/call.h"
#include "kube/client.h"
#include "kube/connection.h"
#include "kube/json_text.h"
#include "kube/kubeconfig.h"
#include "kube/resource.h"

// A running cluster as people look at it.
namespace strata::inspect {

struct ListedObject {
  kube::ObjectKey key;
  std::string text;  // JSON, with kind and apiVersion
};

// For commands that ask something and end. Every error is one line for a person, with the next
// step. Calls wait for the answer; for one thread.
class LiveCluster {
 public:
  // The cluster that kubectl would talk to. An error when nobody answers there.
  [[nodiscard]] static Result<std::unique_ptr<LiveCluster>> Open(const kube::ConnectionFlags& flags,
                                                                 const kube::Surroundings& outside);

  // Ascending by (namespace, name); "" is every namespace. None when the server does not serve the
  // kind. COST: all of it in memory.
  [[nodiscard]] Result<std::optional<std::vector<ListedObject>>> List(
      const kube::Resource& resource, const std::string& ns, const kube::ListOptions& options);
  // The same of a kind that the command cannot do without: kNotFound says how to get it.
  [[nodiscard]] Result<std::vector<ListedObject>> ListNeeded(const kube::Resource& resource,
                                                             const std::string& ns,
                                                             const kube::ListOptions& options);
  [[nodiscard]] Result<bool> Serves(const kube::Resource& resource);

  // kNotFound names the object, and the kind where that is what is missing.
  [[nodiscard]] Result<std::string> Get(const kube::ResourcePath& path);
  // Any other call about the object.
  [[nodiscard]] Result<std::string> Do(const kube::ResourcePath& path, kube::Call call);

  [[nodiscard]] kube::Client& client() { return connection_->client(); }
  [[nodiscard]] const kube::ConnectionConfig& config() const { return connection_->config(); }
  // The namespace of the context.
  [[nodiscard]] const std::string& ns() const { return connection_->config().ns; }

 private:
  explicit LiveCluster(std::unique_ptr<kube::Connection> connection)
      : connection_(std::move(connection)) {}

  [[nodiscard]] tl::unexpected<Error> Explain(const kube::ResourcePath& path,
                                              const kube::Failure& failure) const;

  std::unique_ptr<kube::Connection> connection_;
};

// What to tell a person about a call that failed: one line with the next step. Pure.
[[nodiscard]] Error DescribeFailure(const kube::ResourcePath& path,
                                    const kube::Failure& failure,
                                    const kube::ConnectionConfig& config);

}  // namespace strata::inspect
