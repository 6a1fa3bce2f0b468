#include "inspect/live_cluster.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace strata::inspect {
namespace {

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kNotFound = 404;
constexpr std::string_view kVolcanoGroups = ".volcano.sh";

// "jobs.batch.volcano.sh", "pods": as kubectl takes it.
std::string QualifiedName(const kube::Resource& resource) {
  return resource.group.empty() ? std::string(resource.plural)
                                : fmt::format("{}.{}", resource.plural, resource.group);
}

std::string Missing(const kube::ResourcePath& path, const kube::ConnectionConfig& config) {
  const std::string name = QualifiedName(path.resource);
  const bool ours = path.resource.group.ends_with(kVolcanoGroups);
  return fmt::format(
      "{} does not serve {}{}",
      config.cluster.server,
      name,
      ours ? "; install its definition: kubectl apply --server-side -f deploy/crds" : "");
}

// A server that does not know the kind says nothing about an object.
bool IsUnknownKind(const kube::ResourcePath& path, const kube::Failure& failure) {
  return failure.http_status == kNotFound &&
         (path.name.empty() || failure.error.message.find('"') == std::string::npos);
}

}  // namespace

Error DescribeFailure(const kube::ResourcePath& path,
                      const kube::Failure& failure,
                      const kube::ConnectionConfig& config) {
  const std::string& server = config.cluster.server;
  switch (failure.http_status) {
    case 0:
      return {failure.error.code,
              fmt::format("{}: {} ({}); is the cluster running? --kubeconfig and --context name "
                          "another",
                          server,
                          failure.error.message,
                          config.origin)};
    case kUnauthorized:
      return {failure.error.code,
              fmt::format("{} does not accept the credentials of {}; log in again, or name others "
                          "with --kubeconfig or --context",
                          server,
                          config.origin)};
    case kForbidden:
      return {failure.error.code,
              fmt::format("{}; ask for that right, or name another user with --context",
                          failure.error.message)};
    default:
      break;
  }
  if (IsUnknownKind(path, failure)) return {Code::kNotFound, Missing(path, config)};
  return failure.error;
}

Result<std::unique_ptr<LiveCluster>> LiveCluster::Open(const kube::ConnectionFlags& flags,
                                                       const kube::Surroundings& outside) {
  TRY_ASSIGN(const kube::ConnectionConfig config, kube::FindConnection(flags, outside));
  TRY_ASSIGN(std::unique_ptr<kube::Connection> connection,
             kube::Connection::Open(config, {.user_agent = "strata", .write_rate = {}}, outside));
  // Asked once and at once: a person waits.
  kube::Call hello{.method = "GET",
                   .path = "/version",
                   .query = {},
                   .content_type = {},
                   .body = {},
                   .repeat = kube::Repeat::kNever,
                   .timeout = std::chrono::seconds(10),
                   .leadership = {}};
  const kube::Reply reply = connection->client().Do(std::move(hello));
  if (!reply && (reply.error().http_status == 0 || reply.error().http_status == kUnauthorized)) {
    return tl::unexpected(DescribeFailure({}, reply.error(), connection->config()));
  }
  return std::unique_ptr<LiveCluster>(new LiveCluster(std::move(connection)));
}

Result<std::optional<std::vector<ListedObject>>> LiveCluster::List(
    const kube::Resource& resource, const std::string& ns, const kube::ListOptions& options) {
  auto texts = kube::ListObjects(client(), resource, ns, options);
  if (!texts) {
    if (texts.error().http_status == kNotFound) return std::nullopt;
    return Explain({resource, ns, {}, {}}, texts.error());
  }
  std::vector<ListedObject> objects;
  objects.reserve(texts->size());
  for (std::string& text : *texts) {
    TRY_ASSIGN(kube::ObjectHead head, kube::ReadHead(text));
    objects.push_back({std::move(head.key), std::move(text)});
  }
  std::sort(objects.begin(), objects.end(), [](const ListedObject& a, const ListedObject& b) {
    return a.key < b.key;
  });
  return objects;
}

Result<std::vector<ListedObject>> LiveCluster::ListNeeded(const kube::Resource& resource,
                                                          const std::string& ns,
                                                          const kube::ListOptions& options) {
  TRY_ASSIGN(std::optional<std::vector<ListedObject>> objects, List(resource, ns, options));
  if (objects) return std::move(*objects);
  return Fail(Code::kNotFound, Missing({resource, ns, {}, {}}, connection_->config()));
}

Result<bool> LiveCluster::Serves(const kube::Resource& resource) {
  kube::ListOptions one;
  one.limit = 1;
  const kube::Reply reply = client().Do(kube::ListCall(resource, "", one));
  if (reply) return true;
  if (reply.error().http_status == kNotFound) return false;
  return Explain({resource, {}, {}, {}}, reply.error());
}

Result<std::string> LiveCluster::Get(const kube::ResourcePath& path) {
  return Do(path, kube::GetCall(path));
}

Result<std::string> LiveCluster::Do(const kube::ResourcePath& path, kube::Call call) {
  kube::Reply reply = client().Do(std::move(call));
  if (!reply) return Explain(path, reply.error());
  return std::move(*reply);
}

tl::unexpected<Error> LiveCluster::Explain(const kube::ResourcePath& path,
                                           const kube::Failure& failure) const {
  return tl::unexpected(DescribeFailure(path, failure, connection_->config()));
}

}  // namespace strata::inspect
