#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kube/delta.h"
#include "webhooks/cluster_view.h"
#include "webhooks/webhook.h"

// Clusters and reviews for the tests of this folder.
namespace strata::webhooks {

// JSON with ' for ", so that tests read well.
inline nlohmann::json J(std::string text) {
  for (char& c : text) {
    if (c == '\'') c = '"';
  }
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << text;
  return parsed;
}

inline const Webhook& WebhookAt(std::string_view path) {
  for (const Webhook& webhook : AllWebhooks()) {
    if (webhook.path == path) return webhook;
  }
  ADD_FAILURE() << path;
  return AllWebhooks().front();
}

inline std::vector<const Webhook*> EveryWebhook() {
  std::vector<const Webhook*> all;
  for (const Webhook& webhook : AllWebhooks()) all.push_back(&webhook);
  return all;
}

// A cluster with the queues root, default and closed, as informers show it.
class SeenCluster {
 public:
  enum Source : int { kQueueSource = 0, kPodGroupSource = 1, kNamespaceSource = 2 };

  SeenCluster() {
    for (const std::string name : {"root", "default"}) {
      Show(kQueueSource, J("{'metadata': {'name': '" + name + "'}, 'status': {'state': 'Open'}}"));
    }
    Show(kQueueSource, J("{'metadata': {'name': 'closed'}, 'status': {'state': 'Closed'}}"));
  }

  void Show(Source source, const nlohmann::json& object) {
    kube::Delta delta;
    delta.type = kube::Delta::Type::kAdded;
    delta.source = source;
    delta.key = {object["metadata"].value("namespace", ""), object["metadata"].value("name", "")};
    delta.text = object.dump();
    EXPECT_TRUE(view_.Take(delta));
  }
  void Delete(Source source, const std::string& name) {
    kube::Delta delta;
    delta.type = kube::Delta::Type::kDeleted;
    delta.source = source;
    delta.key = {"", name};
    EXPECT_TRUE(view_.Take(delta));
  }
  void Sync() {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(view_.Take({}));
  }

  [[nodiscard]] const ClusterView& view() const { return view_; }

 private:
  ClusterView view_{WatchedBy(EveryWebhook())};
};

inline constexpr Time kTestNow{std::chrono::seconds(1'800'000'000)};

// The request of an AdmissionReview for `webhook`.
inline nlohmann::json RequestOf(const Webhook& webhook,
                                const std::string& operation,
                                nlohmann::json object,
                                nlohmann::json old_object = nullptr) {
  return {{"uid", "u-1"},
          {"operation", operation},
          {"resource",
           {{"group", webhook.group}, {"version", webhook.version}, {"resource", webhook.plural}}},
          {"namespace", "default"},
          {"name", "x"},
          {"object", std::move(object)},
          {"oldObject", std::move(old_object)},
          {"dryRun", true}};
}

inline std::string ReviewText(nlohmann::json request) {
  return nlohmann::json{{"kind", "AdmissionReview"},
                        {"apiVersion", "admission.k8s.io/v1"},
                        {"request", std::move(request)}}
      .dump();
}

inline nlohmann::json TrainJob(const std::string& spec = "") {
  return J(
      "{'apiVersion': 'batch.volcano.sh/v1alpha1', 'kind': 'Job', 'metadata': {'name': "
      "'train', 'namespace': 'default'}, 'spec': {" +
      spec +
      "'tasks': [{'replicas': 2, 'template': {'spec': {'containers': [{'name': 'c', "
      "'image': 'i'}]}}}]}}");
}

}  // namespace strata::webhooks
