#include "replay/policies/told.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "replay/batch.h"
#include "replay/test_workload.h"

namespace strata::replay {
namespace {

using ::testing::HasSubstr;

// Somebody who takes the first node that fits, by books that follow from the lines.
class FirstFitter {
 public:
  std::string Hear(const std::string& text) {
    const auto line = nlohmann::json::parse(text);
    if (line["type"] == "cluster") {
      for (const auto& node : line["nodes"]) {
        names_.push_back(node["name"]);
        free_.push_back(node["gpus"]);
      }
      return "";
    }
    const int job = line["job"];
    if (line["type"] == "end") {
      for (const std::size_t node : places_[job]) free_[node] += gpus_[job];
      return "";
    }
    nlohmann::json nodes = nlohmann::json::array();
    std::vector<std::size_t> taken;
    gpus_[job] = line["gpus"];
    for (int pod = 0; pod < line["pods"]; ++pod) {
      for (std::size_t node = 0; node < free_.size(); ++node) {
        if (free_[node] < gpus_[job]) continue;
        free_[node] -= gpus_[job];
        taken.push_back(node);
        nodes.push_back(names_[node]);
        break;
      }
    }
    if (static_cast<int>(taken.size()) < line["pods"]) {
      for (const std::size_t node : taken) free_[node] += gpus_[job];
      nodes.clear();
    } else {
      places_[job] = taken;
    }
    return nlohmann::json({{"nodes", nodes}}).dump();
  }

 private:
  std::vector<std::string> names_;
  std::vector<int> free_;
  std::map<int, int> gpus_;
  std::map<int, std::vector<std::size_t>> places_;
};

struct TwoRacksOfJobs {
  Fabric fabric = MakeFabric(1, 2, 3, 8);
  Workload workload = TestWorkload({TestJob("a", 0, 100, 1, 4),
                                    TestJob("b", 1, 30, 3, 8),
                                    TestJob("c", 2, 50, 3, 8),
                                    TestJob("d", 3, 100, 1, 2)},
                                   fabric);
};

EngineResult Told(const TwoRacksOfJobs& setting, const SayLine& say, Status* problem = nullptr) {
  auto policy = MakeToldPolicy(say, setting.workload, setting.fabric, 1);
  CHECK(policy.has_value());
  EngineResult result =
      Replay(setting.workload, setting.fabric, {.check = true, .keep_places = true}, **policy);
  if (problem != nullptr) *problem = (*policy)->Problem();
  return result;
}

TEST(ToldPolicy, DoesWhatItIsTold) {
  const TwoRacksOfJobs setting;
  FirstFitter fitter;
  const EngineResult told =
      Told(setting, [&](const std::string& line, Answer /*answer*/) -> Result<std::string> {
        return fitter.Hear(line);
      });
  const EngineResult rule = TestReplay(
      setting.workload, setting.fabric, "rule:first-fit", {.check = true, .keep_places = true});
  EXPECT_EQ(told.places, rule.places);
  EXPECT_EQ(told.runs, rule.runs);
  EXPECT_TRUE(told.faults.empty());
}

std::string ProblemOf(const std::string& answer) {
  const TwoRacksOfJobs setting;
  Status problem;
  static_cast<void>(Told(
      setting,
      [&](const std::string& /*line*/, Answer /*answer*/) -> Result<std::string> { return answer; },
      &problem));
  return problem ? "" : problem.error().message;
}

TEST(ToldPolicy, TakesNoAnswerThatTheClusterDoesNotHold) {
  EXPECT_THAT(ProblemOf("{"), HasSubstr("answer: "));
  EXPECT_EQ(ProblemOf("{}"), "answer about job 0: want a list \"nodes\"");
  EXPECT_EQ(ProblemOf(R"({"nodes":["x"]})"), "answer about job 0: unknown node \"x\"");
  EXPECT_EQ(ProblemOf(R"({"nodes":["node-0","node-1"]})"),
            "answer about job 0: 2 nodes for 1 pods");
  EXPECT_EQ(ProblemOf(R"({"nodes":["node-0"]})"), "answer about job 1: 1 nodes for 3 pods");
}

TEST(ToldPolicy, EndsTheBatchWhenItsProgramBreaks) {
  const TwoRacksOfJobs setting;
  PolicyChoice choice;
  choice.info.name = "exec:x";
  choice.make = [](const Workload& workload, const Fabric& fabric, std::uint64_t seed) {
    const SayLine say = [](const std::string& /*line*/, Answer answer) -> Result<std::string> {
      if (answer == Answer::kNone) return std::string();
      return Fail(Code::kUnavailable, "exec:x: the program has ended");
    };
    return MakeToldPolicy(say, workload, fabric, seed);
  };
  const Status status = RunBatch(setting.workload,
                                 setting.fabric,
                                 {{choice, 1}},
                                 {.engine = {}, .on_result = [](std::size_t, const EngineResult&) {
                                    FAIL() << "a run that broke has no result";
                                  }});
  EXPECT_EQ(status.error().message, "exec:x: the program has ended");
}

}  // namespace
}  // namespace strata::replay
