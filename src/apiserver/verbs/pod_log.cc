#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/admission.h"
#include "apiserver/lifecycle/object_write.h"
#include "apiserver/request/body.h"
#include "apiserver/verbs/subresources.h"
#include "apiserver/views/answer.h"
#include "json/access.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;

std::vector<std::string> ContainerNames(const json& pod, const char* key) {
  std::vector<std::string> names;
  for (const json& container : ListAt(pod, {"spec", key})) {
    names.push_back(TextAt(container, {"name"}));
  }
  return names;
}

// Which container is meant: the one that is named, or the only one.
ApiResult<std::string> ChooseContainer(const std::string& pod_name,
                                       const json& pod,
                                       std::string_view wanted) {
  const std::vector<std::string> names = ContainerNames(pod, "containers");
  const std::vector<std::string> init = ContainerNames(pod, "initContainers");
  if (wanted.empty()) {
    if (names.size() == 1) return names[0];
    std::string choices = fmt::format("choose one of: [{}]", fmt::join(names, " "));
    if (!init.empty()) {
      choices += fmt::format(" or one of the init containers: [{}]", fmt::join(init, " "));
    }
    return tl::unexpected(BadRequest(
        fmt::format("a container name must be specified for pod {}, {}", pod_name, choices)));
  }
  for (const auto* list : {&names, &init}) {
    for (const std::string& name : *list) {
      if (name == wanted) return name;
    }
  }
  return tl::unexpected(
      BadRequest(fmt::format("container {} is not valid for pod {}", wanted, pod_name)));
}

// A log as the body of an answer.
class LogBody final : public net::BodySource {
 public:
  LogBody(std::shared_ptr<net::Exchange> exchange, std::unique_ptr<LogStream> stream)
      : exchange_(std::move(exchange)), stream_(std::move(stream)) {}

  More Pull(std::string& out) override {
    if (stream_->Read(out) == LogStream::More::kEnd) return More::kEnd;
    return out.empty() ? More::kLater : More::kReady;
  }

 private:
  std::shared_ptr<net::Exchange> exchange_;  // owned here, because it must exist to be woken
  std::unique_ptr<LogStream> stream_;
};

void FollowLog(const LogFollower& follow, const Call& call, const LogRequest& request) {
  ApiResult<std::unique_ptr<LogStream>> stream =
      follow(request, [weak = std::weak_ptr(call.exchange)] {
        if (const auto exchange = weak.lock()) exchange->Wake();
      });
  if (!stream) return AnswerError(call, stream.error());
  call.exchange->RespondStream(TextResponse(200, ""),
                               std::make_unique<LogBody>(call.exchange, std::move(*stream)));
}

}  // namespace

void HandleLog(ServerState& state, const Call& call) {
  const ObjectRef stored = state.store.Get(KeyOf(*call.resource, call.path.ns, call.path.name));
  if (stored == nullptr) return AnswerError(call, NotFound(*call.resource, call.path.name));
  const json pod = ParseStored(*stored);
  ApiResult<std::string> container =
      ChooseContainer(call.path.name, pod, call.query.Get("container"));
  if (!container) return AnswerError(call, container.error());
  const ApiResult<std::optional<std::int64_t>> tail = call.query.Number("tailLines");
  if (!tail) return AnswerError(call, tail.error());
  const LogRequest request{.ns = call.path.ns,
                           .pod = call.path.name,
                           .container = std::move(*container),
                           .follow = call.query.Flag("follow"),
                           .previous = call.query.Flag("previous"),
                           .timestamps = call.query.Flag("timestamps"),
                           .tail_lines = *tail};
  if (request.follow && state.options.follow_logs) {
    return FollowLog(state.options.follow_logs, call, request);
  }
  ApiResult<std::string> text = std::string();
  if (state.options.logs) text = state.options.logs(request);
  if (!text) return AnswerError(call, text.error());
  call.exchange->Respond(TextResponse(200, std::move(*text)));
}

void HandleAccessReview(ServerState& state, const CallRef& call) {
  ApiResult<json> review = ReadObject(*call, FieldValidation::kIgnore);
  if (!review) return AnswerError(*call, review.error());
  if (auto fine = admission::AdmitCreate({*call->resource, state.store, call->now}, *review);
      !fine) {
    return AnswerError(*call, fine.error());
  }
  (*review)["status"]["reason"] = "every holder of the token is allowed everything";
  AnswerObject(*call, 201, *review);
}

}  // namespace strata::apiserver
