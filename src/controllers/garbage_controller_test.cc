#include "controllers/garbage_controller.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "controllers/test_prompt_transport.h"
#include "json/dump.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Jobs and PodGroups as the watches have told of them, and Jobs as the server has them, which may
// be ahead.
class GarbageDeskTest : public ::testing::Test {
 protected:
  static constexpr int kJobSource = 0;
  static constexpr int kGroupSource = 1;

  GarbageDeskTest() {
    transport_.answer = [this](const net::HttpRequest& request) { return StatusOf(request.path); };
    transport_.body = [this](const net::HttpRequest& request) {
      const auto uid = jobs_.find(NameIn(request.path));
      return uid == jobs_.end() ? std::string(R"({"kind":"Status","code":404})")
                                : DumpJson({{"metadata", {{"uid", uid->second}}}});
    };
  }

  void See(kube::Delta::Type type, int source, const json& meta) {
    kube::Delta delta;
    delta.type = type;
    delta.source = source;
    delta.key = {"default", meta["name"].get<std::string>()};
    delta.uid = meta["uid"].get<std::string>();
    delta.text = DumpJson({{"metadata", meta}});
    look_at_ = desk_.Take(cache_.Take(delta));
  }
  void SeeJob(kube::Delta::Type type, const std::string& name) {
    See(type, kJobSource, {{"name", name}, {"namespace", "default"}, {"uid", "u-" + name}});
  }
  void SeeGroupOf(const std::vector<std::string>& jobs) {
    json owners = json::array();
    for (const std::string& job : jobs) {
      owners.push_back({{"apiVersion", "batch.volcano.sh/v1alpha1"},
                        {"kind", "Job"},
                        {"name", job},
                        {"uid", "u-" + job}});
    }
    See(kube::Delta::Type::kAdded,
        kGroupSource,
        {{"name", "g"}, {"namespace", "default"}, {"uid", "u-g"}, {"ownerReferences", owners}});
  }

  [[nodiscard]] Plan Look() { return desk_.Decide("u-g").plan; }
  [[nodiscard]] static bool Deletes(const Plan& plan) {
    return plan.steps.size() == 1 && plan.steps[0].size() == 1 &&
           plan.steps[0][0].verb == Write::Verb::kDelete && plan.steps[0][0].uid == "u-g";
  }

  std::map<std::string, std::string> jobs_;  // the server's: name to uid
  std::map<std::string, int> refused_;       // name to HTTP status
  PromptTransport transport_;
  std::set<std::string> look_at_;  // because of what was seen last

 private:
  static std::string NameIn(const std::string& path) { return path.substr(path.rfind('/') + 1); }
  [[nodiscard]] int StatusOf(const std::string& path) const {
    const std::string name = NameIn(path);
    if (const auto refused = refused_.find(name); refused != refused_.end()) return refused->second;
    return jobs_.contains(name) ? 200 : 404;
  }
  static std::vector<Cache::Watched> Watches() {
    std::vector<Cache::Watched> watches(2);
    watches[kJobSource].spec.resource = kube::kJobs;
    watches[kGroupSource].spec.resource = kube::kPodGroups;
    return watches;
  }

  kube::Client client_{transport_, transport_, {}};
  Cache cache_{Watches()};
  GarbageDesk desk_{client_, cache_};
};

TEST_F(GarbageDeskTest, TakesWhatHasLostItsOwner) {
  jobs_["j"] = "u-j";
  SeeJob(kube::Delta::Type::kAdded, "j");
  SeeGroupOf({"j"});
  Plan plan = Look();
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_FALSE(plan.again) << "the watch will tell of its end";
  EXPECT_THAT(transport_.sent, IsEmpty()) << "what the watch has seen is not asked for";
  jobs_.clear();
  SeeJob(kube::Delta::Type::kDeleted, "j");
  EXPECT_THAT(look_at_, ElementsAre("u-g"));
  plan = Look();
  EXPECT_TRUE(Deletes(plan));
}

// The job comes and goes while its watch is cut: a new list has no word of it.
TEST_F(GarbageDeskTest, AnOwnerThatNoWatchHasSeenIsAskedForUntilItIsGone) {
  jobs_["j"] = "u-j";
  SeeGroupOf({"j"});
  Plan plan = Look();
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_TRUE(plan.again) << "no watch may ever tell of its end";
  jobs_.clear();
  plan = Look();
  EXPECT_TRUE(Deletes(plan));
  EXPECT_FALSE(plan.again);
}

TEST_F(GarbageDeskTest, AnotherJobOfThatNameIsNoOwner) {
  jobs_["j"] = "u-another";
  SeeGroupOf({"j"});
  EXPECT_TRUE(Deletes(Look()));
}

TEST_F(GarbageDeskTest, NothingGoesWhileTheServerDoesNotSay) {
  refused_["j"] = 403;
  SeeGroupOf({"i", "j"});
  const Plan plan = Look();
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_TRUE(plan.again);
}

}  // namespace
}  // namespace strata::controllers
