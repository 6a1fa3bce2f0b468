#include "live/stranded_pods.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "objects/test_support.h"
#include "whatif/cluster.h"

namespace strata::live {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string PodText(const std::string& name,
                    const std::string& scheduler,
                    const std::string& group,
                    const std::string& more = "") {
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: ns, uid: u-" +
         name + ", annotations: {scheduling.k8s.io/group-name: " + group +
         "}, ownerReferences: [{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: j, uid: "
         "u-j, controller: true}]}\nspec: {schedulerName: " +
         scheduler + ", containers: [{name: c, image: i}]}\n" + more;
}

class StrandedPodsTest : public testing::Test {
 protected:
  void Put(const std::string& text) { ASSERT_TRUE(feed_.Apply(objects::MustLoad(text))); }
  std::vector<std::string> TellAfter(Duration time) {
    now_ += time;
    std::vector<std::string> told;
    for (const auto& finding : book_.TakeNew(feed_, now_)) {
      told.push_back(finding.pod + (finding.first_of_owner ? " (first): " : ": ") +
                     finding.why.reason + ": " + finding.why.message);
    }
    return told;
  }

  ClusterState state_;
  ClusterFeed feed_{state_, IsOurs};
  StrandedPods book_{{"volcano", "strata"}};
  net::SteadyTime now_{};
};

TEST_F(StrandedPodsTest, TellsOnceOfASchedulerThatNobodyIs) {
  Put(PodText("a", "volcanoo", "g") + PodText("b", "volcanoo", "g"));
  EXPECT_THAT(TellAfter(seconds(0)), IsEmpty()) << "another scheduler may take it";
  EXPECT_EQ(book_.NextDue(), now_ + seconds(10));
  constexpr const char* kWhy =
      "SchedulerNotFound: no scheduler with the name \"volcanoo\" has looked at this pod; this one "
      "serves schedulerName volcano, strata";
  EXPECT_THAT(TellAfter(seconds(10)),
              ElementsAre(std::string("ns/a (first): ") + kWhy, std::string("ns/b: ") + kWhy));
  EXPECT_EQ(book_.NextDue(), std::nullopt);
  Put(PodText("c", "volcanoo", "g"));
  EXPECT_THAT(TellAfter(seconds(0)), IsEmpty());
  EXPECT_THAT(TellAfter(seconds(10)), ElementsAre(std::string("ns/c: ") + kWhy));
}

TEST_F(StrandedPodsTest, SaysNothingOfAPodThatAnotherSchedulerHasLookedAt) {
  Put(PodText("a",
              "other",
              "g",
              "status: {conditions: [{type: PodScheduled, status: \"False\", reason: "
              "Unschedulable}]}\n"));
  EXPECT_THAT(TellAfter(seconds(0)), IsEmpty());
  EXPECT_THAT(TellAfter(seconds(60)), IsEmpty());
}

TEST_F(StrandedPodsTest, SaysNothingOfASchedulerThatEveryClusterHas) {
  ClusterFeed feed(state_, [](const objects::Pod&) { return false; });
  ASSERT_TRUE(feed.Apply(objects::MustLoad(PodText("a", "default-scheduler", "g"))));
  EXPECT_THAT(book_.TakeNew(feed, now_), IsEmpty());
  EXPECT_THAT(book_.TakeNew(feed, now_ + seconds(60)), IsEmpty());
}

TEST_F(StrandedPodsTest, TellsOfAPodGroupThatDoesNotCome) {
  Put(PodText("a", "volcano", "absent") + PodText("b", "volcano", "late"));
  EXPECT_THAT(TellAfter(seconds(0)), IsEmpty());
  Put("apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\n"
      "metadata: {name: late, namespace: ns}\nspec: {minMember: 1}\n");
  EXPECT_THAT(TellAfter(seconds(10)),
              ElementsAre("ns/a (first): PodGroupNotFound: PodGroup ns/absent does not exist"));
  feed_.Remove("Pod", "ns", "a");
  EXPECT_THAT(TellAfter(seconds(60)), IsEmpty());
  Put(PodText("a", "volcano", "absent"));
  EXPECT_THAT(TellAfter(seconds(0)), IsEmpty());
  EXPECT_THAT(TellAfter(seconds(10)), SizeIs(1)) << "another pod of that name";
}

}  // namespace
}  // namespace strata::live
