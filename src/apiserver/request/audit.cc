#include "apiserver/request/audit.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "apiserver/request/request_path.h"
#include "base/timestamp.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

// The one token of a server has no other name.
constexpr const char* kTokenHolder = "admin";

// Kubernetes' word for a change; "" for a method that changes nothing.
std::string_view ChangeBy(std::string_view method, bool names_one) {
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return names_one ? "delete" : "deletecollection";
  return "";
}

std::optional<ResourcePath> ChangedPath(const net::HttpRequest& request) {
  const std::optional<std::vector<std::string>> segments = PathSegments(request.path);
  std::optional<ResourcePath> path = segments ? ToResourcePath(*segments) : std::nullopt;
  if (!path || path->plural.empty()) return std::nullopt;
  if (path->plural == "events" || path->plural == "leases") return std::nullopt;
  const bool asks = path->group == "authorization.k8s.io" || path->group == "authentication.k8s.io";
  if (asks || ChangeBy(request.method, !path->name.empty()).empty()) return std::nullopt;
  return path;
}

class AuditedExchange final : public net::Exchange {
 public:
  AuditedExchange(std::shared_ptr<net::Exchange> inner,
                  ResourcePath path,
                  const Clock& clock,
                  AuditSink sink)
      : inner_(std::move(inner)),
        path_(std::move(path)),
        clock_(clock),
        sink_(std::move(sink)),
        received_(clock.Now()) {}
  // A change whose answer was never sent may have been made.
  ~AuditedExchange() override {
    if (!told_) Tell(std::nullopt);
  }
  AuditedExchange(const AuditedExchange&) = delete;
  AuditedExchange& operator=(const AuditedExchange&) = delete;

  [[nodiscard]] const net::HttpRequest& request() const override { return inner_->request(); }
  void Respond(net::HttpResponse response) override {
    if (response.status == 201 && path_.name.empty()) {  // the name may have been generated
      path_.name = TextAt(ParseJsonOrNull(response.body), {"metadata", "name"});
    }
    Tell(response.status);
    inner_->Respond(std::move(response));
  }
  void RespondStream(net::HttpResponse head, std::unique_ptr<net::BodySource> source) override {
    Tell(head.status);
    inner_->RespondStream(std::move(head), std::move(source));
  }
  void Wake() override { inner_->Wake(); }

 private:
  void Tell(std::optional<int> status) {
    told_ = true;
    const net::HttpRequest& asked = request();
    json object = {{"resource", path_.plural}, {"apiVersion", path_.version}};
    const std::pair<const char*, const std::string&> parts[] = {{"apiGroup", path_.group},
                                                                {"namespace", path_.ns},
                                                                {"name", path_.name},
                                                                {"subresource", path_.subresource}};
    for (const auto& [key, value] : parts) {
      if (!value.empty()) object[key] = value;
    }
    json event = {{"kind", "Event"},
                  {"apiVersion", "audit.k8s.io/v1"},
                  {"level", "Metadata"},
                  {"stage", status ? "ResponseComplete" : "RequestReceived"},
                  {"requestURI", asked.path + (asked.query.empty() ? "" : "?" + asked.query)},
                  {"verb", ChangeBy(asked.method, !path_.name.empty())},
                  {"user", {{"username", kTokenHolder}}},
                  {"userAgent", asked.HeaderValue("User-Agent")},
                  {"objectRef", std::move(object)},
                  {"requestReceivedTimestamp", FormatMicroTime(received_)},
                  {"stageTimestamp", FormatMicroTime(clock_.Now())}};
    if (status) event["responseStatus"] = {{"code", *status}};
    sink_(DumpJson(event));
  }

  std::shared_ptr<net::Exchange> inner_;
  ResourcePath path_;
  const Clock& clock_;
  AuditSink sink_;
  Time received_;
  bool told_ = false;
};

}  // namespace

std::shared_ptr<net::Exchange> Audited(std::shared_ptr<net::Exchange> exchange,
                                       const Clock& clock,
                                       AuditSink sink) {
  std::optional<ResourcePath> path = ChangedPath(exchange->request());
  if (!path) return exchange;
  return std::make_shared<AuditedExchange>(
      std::move(exchange), std::move(*path), clock, std::move(sink));
}

}  // namespace strata::apiserver
