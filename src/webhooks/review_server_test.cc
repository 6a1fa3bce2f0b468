#include "webhooks/review_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "webhooks/test_reviews.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class PagesTest : public ::testing::Test {
 protected:
  net::HttpResponse Ask(const net::HttpRequest& request) {
    return AnswerRequest(request,
                         {webhooks,
                          names,
                          cluster.view(),
                          conf,
                          counters,
                          ending,
                          admission::UsedQueues::kMayGo,
                          asked},
                         kTestNow);
  }
  net::HttpResponse Post(const std::string& path,
                         const std::string& body,
                         const std::string& type = "application/json") {
    return Ask({"POST", path, "", {{"Content-Type", type}}, body});
  }

  std::vector<const Webhook*> webhooks = {&WebhookAt("/jobs/mutate"), &WebhookAt("/jobs/validate")};
  std::vector<std::string> names;
  SeenCluster cluster;
  AdmissionConf conf;
  ReviewCounters counters;
  bool ending = false;
  AskedObjects* asked = nullptr;
  const std::string review =
      ReviewText(RequestOf(WebhookAt("/jobs/validate"), "CREATE", TrainJob()));
};

TEST_F(PagesTest, Answers503BeforeTheClusterWasSeen) {
  EXPECT_EQ(Ask({"GET", "/readyz", "", {}, ""}).status, 503);
  EXPECT_EQ(Ask({"GET", "/healthz", "", {}, ""}).status, 200);
  EXPECT_EQ(Post("/jobs/validate", review).status, 503);
  cluster.Sync();
  EXPECT_EQ(Ask({"GET", "/readyz", "", {}, ""}).status, 200);
  EXPECT_EQ(Post("/jobs/validate", review).status, 200);
}

TEST_F(PagesTest, AReviewIsAnsweredWithAReview) {
  cluster.Sync();
  const net::HttpResponse answer =
      Post("/jobs/validate", review, "Application/JSON; charset=utf-8");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(json::parse(answer.body)["response"], J("{'uid': 'u-1', 'allowed': true}"));
}

TEST_F(PagesTest, RejectsABodyThatIsNotAReviewInOneLine) {
  cluster.Sync();
  for (const std::string bad : {"", "[", "null", "7", "{}", "\xff\xfe", "{\"a\":1e999}"}) {
    const net::HttpResponse answer = Post("/jobs/validate", bad);
    EXPECT_EQ(answer.status, 400) << bad;
    EXPECT_EQ(answer.body.find('\n'), answer.body.size() - 1) << answer.body;
  }
  EXPECT_EQ(Post("/nodes/validate", review).status, 404);
}

TEST(CheckReviewHead, LetsOnlyReviewsHaveABody) {
  using Caller = net::HeadVerdict::Caller;
  const auto check = [](const char* method, const char* path, const char* type) {
    return CheckReviewHead({method, path, "", {{"Content-Type", type}}, ""});
  };
  const net::HeadVerdict review = check("POST", "/jobs/validate", "application/json");
  EXPECT_EQ(review.caller, Caller::kKnown);
  EXPECT_FALSE(review.refusal);
  EXPECT_EQ(check("POST", "/jobs/validate", "text/plain").refusal->status, 415);
  EXPECT_EQ(check("GET", "/jobs/validate", "").refusal->status, 405);
  EXPECT_EQ(check("GET", "/readyz", "").caller, Caller::kStranger);
  EXPECT_EQ(check("POST", "/elsewhere", "application/json").caller, Caller::kStranger);
}

TEST_F(PagesTest, AllowsEverythingOnAPathThatIsNotEnabled) {
  // A configuration of one that was turned off, or of Volcano's, may still ask: 404 would block.
  for (const std::string path : {"/queues/validate", "/pods/mutate", "/cronjobs/validate"}) {
    const net::HttpResponse answer = Post(path, review);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(json::parse(answer.body)["response"], J("{'uid': 'u-1', 'allowed': true}")) << path;
  }
}

TEST_F(PagesTest, AnswersDuringShutdownAndIsNotReady) {
  cluster.Sync();
  ending = true;
  EXPECT_EQ(Ask({"GET", "/readyz", "", {}, ""}).status, 503);
  EXPECT_EQ(Ask({"GET", "/livez", "", {}, ""}).status, 200);
  EXPECT_EQ(Post("/jobs/validate", review).status, 200);
}

TEST_F(PagesTest, CountsReviewsByPathAndOutcome) {
  cluster.Sync();
  Post("/jobs/validate", review);
  Post("/jobs/validate", "{}");
  Post("/jobs/mutate", ReviewText(RequestOf(WebhookAt("/queues/mutate"), "CREATE", TrainJob())));
  const std::string metrics = obs::MetricsText({counters.Metrics()});
  for (const std::string line : {R"({outcome="refused",path="/jobs/mutate"} 1)",
                                 R"({outcome="allowed",path="/jobs/validate"} 1)",
                                 R"({outcome="malformed",path="/jobs/validate"} 1)",
                                 R"({outcome="refused",path="/jobs/validate"} 0)"}) {
    EXPECT_THAT(metrics, HasSubstr("strata_webhook_reviews_total" + line + "\n"));
  }
}

// An informer is a moment behind: a Job may come right after its Queue.
TEST_F(PagesTest, AsksForAQueueThatItHasNotSeenBeforeItSaysNotFound) {
  cluster.Sync();
  AskedObjects look;
  asked = &look;
  const std::string late =
      ReviewText(RequestOf(WebhookAt("/jobs/validate"), "CREATE", TrainJob("'queue': 'late',")));
  const auto post = [&] { return Post("/jobs/validate", late).body; };
  post();
  const admission::ObjectKey key{"queues.scheduling.volcano.sh", "", "late"};
  ASSERT_EQ(look.next, key);

  look = {.answers = {{key, nullptr}}, .next = {}};
  EXPECT_THAT(post(), HasSubstr("unable to find job queue"));
  EXPECT_EQ(look.next, std::nullopt) << "it is asked for once";

  const auto queue = KeepObject(kube::kQueues, key, R"({"metadata": {"name": "late"}})");
  look = {.answers = {{key, queue.value()}}, .next = {}};
  EXPECT_EQ(json::parse(post())["response"]["allowed"], true);
  EXPECT_THAT(obs::MetricsText({counters.Metrics()}),
              HasSubstr(R"({outcome="refused",path="/jobs/validate"} 1)"))
      << "the first time nothing was answered";
}

TEST_F(PagesTest, AsksForTheParentsOfAQueueThatItHasNotSeen) {
  cluster.Sync();
  webhooks = {&WebhookAt("/queues/validate")};
  AskedObjects look;
  asked = &look;
  const json queue = J("{'metadata': {'name': 'c'}, 'spec': {'parent': 'b'}}");
  const std::string text = ReviewText(RequestOf(*webhooks.front(), "CREATE", queue));
  for (const std::string name : {"b", "a"}) {
    Post("/queues/validate", text);
    ASSERT_TRUE(look.next);
    EXPECT_EQ(look.next->name, name);
    const std::string parent = name == "b" ? R"({"spec": {"parent": "a"}})" : "{}";
    look.answers[*look.next] = KeepObject(kube::kQueues, *look.next, parent).value();
    look.next.reset();
  }
  const std::string answer = Post("/queues/validate", text).body;
  EXPECT_EQ(json::parse(answer)["response"]["allowed"], true) << answer;
}

TEST(ClusterView, KeepsWhatRulesRead) {
  SeenCluster cluster;
  cluster.Show(SeenCluster::kPodGroupSource,
               J("{'metadata': {'name': 'b', 'namespace': 'y', 'managedFields': []}, 'spec': "
                 "{'queue': 'q', 'minMember': 3}, 'status': {'phase': 'Running'}}"));
  cluster.Show(SeenCluster::kPodGroupSource, J("{'metadata': {'name': 'a', 'namespace': 'z'}}"));
  std::vector<std::string> seen;
  const auto visit = [&](const admission::StoredObject& object) {
    seen.push_back(object.ns + "/" + object.name + " " + object.body);
    return true;
  };
  cluster.view().VisitLatest("podgroups.scheduling.volcano.sh", "", visit);
  EXPECT_EQ(
      seen,
      (std::vector<std::string>{R"(y/b {"spec":{"queue":"q"}})", R"(z/a {"spec":{"queue":""}})"}));
  seen.clear();
  cluster.view().VisitLatest("podgroups.scheduling.volcano.sh", "z", visit);
  EXPECT_EQ(seen.size(), 1U);
  EXPECT_EQ(cluster.view().GetLatest({"queues.scheduling.volcano.sh", "", "nope"}), nullptr);
}

TEST(ClusterView, SkipsAnObjectThatCannotBeParsed) {
  ClusterView view({kube::kQueues});
  kube::Delta delta;
  delta.type = kube::Delta::Type::kAdded;
  delta.key = {"", "q"};
  delta.text = "{";
  EXPECT_FALSE(view.Take(delta));
  EXPECT_EQ(view.GetLatest({"queues.scheduling.volcano.sh", "", "q"}), nullptr);
}

TEST(WatchedBy, OnlyWhatTheWebhooksNeed) {
  const auto watched = [](std::string_view paths) {
    return WatchedBy(ParseEnabled(paths).value().webhooks).size();
  };
  EXPECT_EQ(watched("/hypernodes/validate,/pods/validate"), 0U);
  EXPECT_EQ(watched("/jobs/validate"), 1U);
  EXPECT_EQ(watched(kUsualWebhooks), 2U);
  EXPECT_EQ(watched("/podgroups/mutate"), 1U);
}

}  // namespace
}  // namespace strata::webhooks
