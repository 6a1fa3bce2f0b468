#include "webhooks/admit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.h"
#include "patch/patch.h"
#include "tests/support/property.h"
#include "webhooks/test_reviews.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class AdmitTest : public ::testing::Test {
 protected:
  Verdict Ask(std::string_view path, const json& request) {
    const Webhook& webhook = WebhookAt(path);
    const Result<Review> review = ParseReview(ReviewText(request));
    EXPECT_TRUE(review) << review.error().message;
    return Admit(webhook, *review, {cluster.view(), conf, names, kTestNow, used_queues});
  }
  Verdict Create(std::string_view path, const json& object) {
    return Ask(path, RequestOf(WebhookAt(path), "CREATE", object));
  }
  // The object as it is after the patch.
  json Mutated(std::string_view path, const json& object) {
    const Verdict verdict = Create(path, object);
    EXPECT_FALSE(verdict.refusal) << *verdict.refusal;
    const Result<json> after = patch::JsonPatch(object, verdict.patch);
    EXPECT_TRUE(after) << after.error().message;
    return *after;
  }
  std::string Refusal(std::string_view path, const json& object) {
    return Create(path, object).refusal.value_or("allowed");
  }

  SeenCluster cluster;
  AdmissionConf conf;
  std::vector<std::string> names = {"volcano"};
  admission::UsedQueues used_queues = admission::UsedQueues::kMayGo;
};

TEST_F(AdmitTest, AJobGetsItsDefaultsByAPatch) {
  const json after = Mutated("/jobs/mutate", TrainJob("'plugins': {'mpi': []},"));
  EXPECT_EQ(after["spec"]["queue"], "default");
  EXPECT_EQ(after["spec"]["minAvailable"], 2);
  EXPECT_EQ(after["spec"]["tasks"][0]["name"], "default0");
  EXPECT_EQ(after["spec"]["plugins"], J("{'mpi': [], 'svc': [], 'ssh': []}"));
  EXPECT_EQ(after["metadata"], TrainJob()["metadata"]);
  EXPECT_TRUE(Create("/jobs/mutate", after).patch.empty());
  EXPECT_EQ(Refusal("/jobs/validate", after), "allowed");
}

TEST_F(AdmitTest, AJobThatNamesNoSchedulerIsForTheFirstOfOurs) {
  names = {"tide", "volcano"};
  for (const char* none : {"", "'schedulerName': '',", "'schedulerName': null,"}) {
    EXPECT_EQ(Mutated("/jobs/mutate", TrainJob(none))["spec"]["schedulerName"], "tide") << none;
  }
  const json named = TrainJob("'schedulerName': 'other',");
  EXPECT_EQ(Mutated("/jobs/mutate", named)["spec"]["schedulerName"], "other");
  EXPECT_FALSE(Create("/jobs/mutate", J("{'spec': 7}")).refusal);
}

TEST_F(AdmitTest, MutatingWebhooksNeverReject) {
  const json job = TrainJob("'queue': 'closed', 'minAvailable': 3,");
  EXPECT_FALSE(Create("/jobs/mutate", job).refusal);
  EXPECT_THAT(Refusal("/jobs/validate", job),
              HasSubstr("Job.batch.volcano.sh \"train\" is invalid: spec.minAvailable: "));
}

TEST_F(AdmitTest, AJobWithoutANameYetGetsItsDefaults) {
  json job = TrainJob();
  job["metadata"] = {{"generateName", "train-"}, {"namespace", "default"}};
  EXPECT_EQ(Mutated("/jobs/mutate", job)["spec"]["queue"], "default");
}

TEST_F(AdmitTest, UsesTheQueuesOfTheInformers) {
  EXPECT_THAT(Refusal("/jobs/validate", TrainJob("'queue': 'closed',")),
              HasSubstr("can only submit job to queue with state `Open`, queue `closed` status is "
                        "`Closed`"));
  EXPECT_THAT(Refusal("/jobs/validate", TrainJob("'queue': 'team',")),
              HasSubstr("unable to find job queue"));
  cluster.Show(SeenCluster::kQueueSource, J("{'metadata': {'name': 'team'}}"));
  EXPECT_EQ(Refusal("/jobs/validate", TrainJob("'queue': 'team',")), "allowed");
  cluster.Delete(SeenCluster::kQueueSource, "team");
  EXPECT_THAT(Refusal("/jobs/validate", TrainJob("'queue': 'team',")),
              HasSubstr("unable to find job queue"));
}

TEST_F(AdmitTest, AnUpdateIsComparedWithTheObjectBefore) {
  const json before = Mutated("/jobs/mutate", TrainJob());
  json after = before;
  after["spec"]["tasks"][0]["replicas"] = 5;
  const Webhook& jobs = WebhookAt("/jobs/validate");
  EXPECT_FALSE(Ask("/jobs/validate", RequestOf(jobs, "UPDATE", after, before)).refusal);
  after["spec"]["queue"] = "team";
  EXPECT_THAT(*Ask("/jobs/validate", RequestOf(jobs, "UPDATE", after, before)).refusal,
              HasSubstr("job updates may not change fields other than"));
}

TEST_F(AdmitTest, DeletingAQueueAsksWhatIsBelowIt) {
  const Webhook& queues = WebhookAt("/queues/validate");
  const auto remove = [&](const std::string& name) {
    json request = RequestOf(queues, "DELETE", nullptr, nullptr);
    request["name"] = name;
    return Ask("/queues/validate", request).refusal.value_or("allowed");
  };
  EXPECT_THAT(remove("default"), HasSubstr("`default` queue can not be deleted"));
  EXPECT_EQ(remove("closed"), "allowed");
  cluster.Show(SeenCluster::kQueueSource,
               J("{'metadata': {'name': 'child'}, 'spec': {'parent': 'closed'}}"));
  EXPECT_THAT(remove("closed"), HasSubstr("it has 1 child queues: child"));
  const json used = J("{'metadata': {'name': 'child'}, 'status': {'allocated': {'pods': '3'}}}");
  EXPECT_FALSE(Ask("/queues/validate", RequestOf(queues, "DELETE", nullptr, used)).refusal);
  used_queues = admission::UsedQueues::kStay;
  EXPECT_THAT(*Ask("/queues/validate", RequestOf(queues, "DELETE", nullptr, used)).refusal,
              HasSubstr("it has allocated Pods: 3"));
}

TEST_F(AdmitTest, RejectsAParentQueueThatHasPodGroups) {
  cluster.Show(SeenCluster::kPodGroupSource,
               J("{'metadata': {'name': 'pg', 'namespace': 'x'}, 'spec': {'queue': 'default'}}"));
  EXPECT_THAT(
      Refusal("/queues/validate", J("{'metadata': {'name': 'q'}, 'spec': {'parent': 'default'}}")),
      HasSubstr("queue default cannot be the parent queue of queue q because it has jobs"));
}

TEST_F(AdmitTest, QueuesPodGroupsAndHyperNodesHaveTheirRules) {
  EXPECT_EQ(
      Mutated("/queues/mutate", J("{'metadata': {'name': 'q'}, 'spec': {'weight': 0}}"))["spec"],
      J("{'weight': 1, 'reclaimable': true}"));
  EXPECT_THAT(Refusal("/podgroups/validate",
                      J("{'metadata': {'name': 'pg'}, 'spec': {'queue': 'closed'}}")),
              HasSubstr("can only submit PodGroup to queue with state `Open`"));
  EXPECT_THAT(Refusal("/hypernodes/validate",
                      J("{'metadata': {'name': 'h'}, 'spec': {'tier': 1, 'members': []}}")),
              HasSubstr("spec.members"));
}

TEST_F(AdmitTest, RejectsOtherKindsAndOperations) {
  json request = RequestOf(WebhookAt("/queues/validate"), "CREATE", TrainJob());
  EXPECT_EQ(*Ask("/jobs/validate", request).refusal, "expect resource to be batch.volcano.sh/jobs");
  request = RequestOf(WebhookAt("/jobs/mutate"), "UPDATE", TrainJob(), TrainJob());
  EXPECT_EQ(*Ask("/jobs/mutate", request).refusal,
            "invalid operation `UPDATE`, expect operation to be `CREATE`");
  request = RequestOf(WebhookAt("/queues/validate"), "CONNECT", nullptr);
  EXPECT_EQ(*Ask("/queues/validate", request).refusal,
            "invalid operation `CONNECT`, expect operation to be `CREATE`, `UPDATE` or `DELETE`");
  request = RequestOf(WebhookAt("/jobs/validate"), "UPDATE", json::object(), TrainJob());
  request["subResource"] = "status";
  EXPECT_FALSE(Ask("/jobs/validate", request).refusal);
}

TEST(ParseReview, WantsAllThatItsOperationNeeds) {
  const auto error = [](const std::string& text) {
    const auto review = ParseReview(text);
    return review ? "no error" : review.error().message;
  };
  const Webhook& jobs = WebhookAt("/jobs/validate");
  EXPECT_THAT(error(""), ::testing::Not("no error"));
  EXPECT_THAT(error(std::string(100'000, '[')), ::testing::Not("no error"));
  EXPECT_EQ(error("{}"), "want an AdmissionReview of admission.k8s.io/v1");
  EXPECT_EQ(error(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1"})"),
            "request is required");
  EXPECT_EQ(error(ReviewText(json::object())), "request.uid is required");
  EXPECT_EQ(error(ReviewText(RequestOf(jobs, "CREATE", nullptr))), "request.object is required");
  EXPECT_EQ(error(ReviewText(RequestOf(jobs, "CREATE", 7))), "request.object is not an object");
  EXPECT_EQ(error(ReviewText(RequestOf(jobs, "UPDATE", TrainJob()))),
            "request.oldObject is required");
  json nameless = RequestOf(jobs, "DELETE", nullptr);
  nameless["name"] = "";
  EXPECT_EQ(error(ReviewText(nameless)), "request.oldObject or request.name is required");
}

TEST(AnswerText, EchoesTheUidAndSaysWhy) {
  Verdict verdict;
  EXPECT_EQ(json::parse(AnswerText("u-7", verdict)),
            J("{'kind': 'AdmissionReview', 'apiVersion': 'admission.k8s.io/v1', 'response': "
              "{'uid': 'u-7', 'allowed': true}}"));
  verdict.patch = J("[{'op': 'add', 'path': '/spec/queue', 'value': 'default'}]");
  const json patched = json::parse(AnswerText("u-7", verdict))["response"];
  EXPECT_EQ(patched["patchType"], "JSONPatch");
  EXPECT_EQ(json::parse(DecodeBase64(patched["patch"].get<std::string>()).value()), verdict.patch);
  verdict.refusal = "no";
  EXPECT_EQ(json::parse(AnswerText("u-7", verdict))["response"],
            J("{'uid': 'u-7', 'allowed': false, 'status': {'status': 'Failure', 'message': 'no', "
              "'code': 400}}"));
}

TEST(ParseEnabled, TakesVolcanosPaths) {
  const auto enabled = ParseEnabled("/queues/validate, /jobs/mutate,/cronjobs/validate").value();
  ASSERT_EQ(enabled.webhooks.size(), 2U);
  EXPECT_EQ(enabled.webhooks[0]->path, "/jobs/mutate");
  EXPECT_EQ(enabled.left_out, std::vector<std::string>{"/cronjobs/validate"});
  EXPECT_EQ(ParseEnabled("/jobs/mutat").error().message, "there is no webhook /jobs/mutat");
  EXPECT_EQ(ParseEnabled("").error().message, "no webhook is enabled");
  EXPECT_EQ(ParseEnabled(kUsualWebhooks).value().webhooks.size(), 6U);
}

// Any value that JSON can hold, at most `depth` deep, made of the words that rules look at.
rc::Gen<json> AnyJson(int depth) {
  const rc::Gen<json> leaf = rc::gen::oneOf(
      rc::gen::just(json()),
      rc::gen::map(rc::gen::arbitrary<bool>(), [](bool value) { return json(value); }),
      rc::gen::map(rc::gen::inRange(-2, 5), [](int value) { return json(value); }),
      rc::gen::map(rc::gen::element<std::string>("default", "root", "closed", "", "10", "1Gi"),
                   [](const std::string& value) { return json(value); }));
  if (depth == 0) return leaf;
  const auto key = rc::gen::element<std::string>("metadata",
                                                 "name",
                                                 "spec",
                                                 "queue",
                                                 "tasks",
                                                 "template",
                                                 "replicas",
                                                 "minAvailable",
                                                 "parent",
                                                 "members",
                                                 "annotations",
                                                 "tier",
                                                 "capability",
                                                 "cpu",
                                                 "plugins",
                                                 "policies",
                                                 "containers");
  return rc::gen::oneOf(
      leaf,
      rc::gen::map(rc::gen::container<std::vector<json>>(AnyJson(depth - 1)),
                   [](const std::vector<json>& list) { return json(list); }),
      rc::gen::map(rc::gen::container<std::map<std::string, json>>(key, AnyJson(depth - 1)),
                   [](const std::map<std::string, json>& object) { return json(object); }));
}

TEST(AdmitProperty, EveryPatchAppliesAndMutatingTwiceChangesNothingMore) {
  const SeenCluster cluster;
  const AdmissionConf conf;
  const std::vector<std::string> names;
  testing::CheckProperty(200, [&] {
    const Webhook& webhook = **rc::gen::elementOf(EveryWebhook());
    json object = TrainJob();
    object["spec"] = *rc::gen::resize(4, AnyJson(3));
    if (object["spec"].is_object() && *rc::gen::arbitrary<bool>()) {
      object["spec"]["tasks"] = TrainJob()["spec"]["tasks"];
    }
    const auto ask = [&](const json& asked) {
      const auto review = ParseReview(ReviewText(RequestOf(webhook, "CREATE", asked)));
      RC_ASSERT(review.has_value());
      return Admit(webhook, *review, {cluster.view(), conf, names, kTestNow});
    };
    const Result<json> after = patch::JsonPatch(object, ask(object).patch);
    RC_ASSERT(after.has_value());
    RC_ASSERT(ask(*after).patch.empty());
  });
}

}  // namespace
}  // namespace strata::webhooks
