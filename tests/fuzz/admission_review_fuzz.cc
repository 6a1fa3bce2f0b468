// Whatever is posted to a webhook, it answers: a review with a review that echoes its uid, and
// whose patch applies, anything else with one line.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/check.h"
#include "patch/patch.h"
#include "webhooks/review.h"
#include "webhooks/review_server.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;

std::unique_ptr<ClusterView> SmallCluster(const std::vector<const Webhook*>& webhooks) {
  auto view = std::make_unique<ClusterView>(WatchedBy(webhooks));
  for (const char* name : {"root", "default", "team"}) {
    kube::Delta queue;
    queue.type = kube::Delta::Type::kAdded;
    queue.key = {"", name};
    queue.text = std::string(R"({"metadata":{"name":")") + name + R"("},"spec":{}})";
    CHECK(view->Take(queue));
  }
  while (!view->IsSynced()) CHECK(view->Take({}));
  return view;
}

void CheckAnswer(const std::string& body, const net::HttpResponse& answer) {
  const auto review = ParseReview(body);
  CHECK(answer.status == (review ? 200 : 400));
  if (!review) {
    CHECK(answer.body.find('\n') == answer.body.size() - 1);
    return;
  }
  const json response = json::parse(answer.body, nullptr, false)["response"];
  CHECK(response["uid"] == review->uid);
  if (!response.contains("patch")) return;
  const auto patch = DecodeBase64(response["patch"].get_ref<const std::string&>());
  CHECK(patch && patch::JsonPatch(review->object, json::parse(*patch, nullptr, false)));
}

void Post(const std::string& body) {
  static const AdmissionConf conf;
  static const std::vector<std::string> names = {"volcano"};
  std::vector<const Webhook*> webhooks;
  for (const Webhook& webhook : AllWebhooks()) webhooks.push_back(&webhook);
  static const std::unique_ptr<const ClusterView> view = SmallCluster(webhooks);
  ReviewCounters counters;
  for (const Webhook* webhook : webhooks) {
    net::HttpRequest request;
    request.method = "POST";
    request.path = webhook->path;
    request.headers = {{"Content-Type", "application/json"}};
    request.body = body;
    const Time now{std::chrono::seconds(1'800'000'000)};
    CheckAnswer(body, AnswerRequest(request, {webhooks, names, *view, conf, counters}, now));
  }
}

}  // namespace
}  // namespace strata::webhooks

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::webhooks::Post(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
