#include "page/scope.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace strata::page {
namespace {

const Namespaces kKnown = {"team-a", "team-b"};
const Scope kTeamA{.everything = false, .queues = true, .namespaces = {"team-a"}};

TEST(Scope, HidesNamesOfOtherNamespacesInSentences) {
  EXPECT_EQ(HideNames("without job team-b/eval-7 (4 pods)", kTeamA, kKnown),
            "without job (hidden) (4 pods)");
  EXPECT_EQ(HideNames("PodGroup team-a/train of nvidia.com/gpu", kTeamA, kKnown),
            "PodGroup team-a/train of nvidia.com/gpu");
  EXPECT_EQ(HideNames("team-b/eval-7", Scope{}, kKnown), "team-b/eval-7");
}

TEST(Scope, HidesCommandsThatNameAnotherNamespace) {
  EXPECT_EQ(HideNames("kubectl delete pod eval-7-0 -n team-b", kTeamA, kKnown), "(hidden)");
  EXPECT_EQ(HideNames("kubectl delete pod eval-7-0 --namespace=team-b", kTeamA, kKnown),
            "(hidden)");
  EXPECT_EQ(HideNames("kubectl delete pod x -n team-a", kTeamA, kKnown),
            "kubectl delete pod x -n team-a");
}

TEST(Scope, HidesNamesInWholeDocuments) {
  auto document = nlohmann::ordered_json::parse(
      R"({"heldBy":[{"name":"team-b/eval-7","pods":3}],"binds":{"team-b/x":"n1"}})");
  HideNames(document, kTeamA, kKnown);
  const std::string hidden =
      R"json({"heldBy":[{"name":"(hidden)","pods":3}],"binds":{"(hidden)":"n1"}})json";
  EXPECT_EQ(document.dump(), hidden);
}

TEST(Scope, HiddenJobsKeepTheirGpusAndNothingElse) {
  ClusterColumns columns;
  JobColumns& jobs = columns.jobs;
  jobs.ns = {"team-a", "team-b"};
  jobs.name = {"train", "eval-7"};
  jobs.pod_group = jobs.name;
  jobs.phase = {"Pending", "Running"};
  jobs.queue = {"q", "r"};
  jobs.created = {"t", "t"};
  jobs.reason = {"NotEnoughResources", ""};
  jobs.ready = jobs.total = jobs.min_available = jobs.gpus = {1, 1};
  jobs.hypernode = {kNowhere, 0};
  jobs.tier = {0, 1};
  jobs.user = {{1, "bob"}};
  jobs.helps = {{0, "without job team-b/eval-7"}};
  columns.gpus.state = "usu";
  columns.gpus.holder = {1, kNowhere, 0};
  columns.gpus.shared = {{1, {{.job = 1, .part = 0.5}}}};
  const ClusterColumns seen = HideJobs(columns, kTeamA, kKnown);
  EXPECT_EQ(seen.gpus.state, "usu");
  EXPECT_EQ(seen.gpus.holder, (std::vector<Place>{kHidden, kNowhere, 0}));
  EXPECT_EQ(seen.gpus.shared.at(1)[0].job, kHidden);
  EXPECT_EQ(seen.jobs.name, (std::vector<std::string>{"train", ""}));
  EXPECT_EQ(seen.jobs.queue, (std::vector<std::string>{"q", ""}));
  EXPECT_TRUE(seen.jobs.user.empty());
  EXPECT_EQ(seen.jobs.helps.at(0), "without job (hidden)");
}

TEST(Scope, TheKeyTellsScopesApart) {
  EXPECT_EQ(Scope{}.Key(), "");
  const Scope nothing{.everything = false, .queues = true, .namespaces = {}};
  EXPECT_NE(nothing.Key(), "");
  EXPECT_NE(nothing.Key(), kTeamA.Key());
}

}  // namespace
}  // namespace strata::page
