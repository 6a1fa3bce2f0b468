#include "inspect/job_actions.h"

#include <gtest/gtest.h>

namespace strata::inspect {
namespace {

std::string Said(const std::string& phase, std::optional<JobAction> pending, JobAction action) {
  const auto said = WhyNothingFollows(phase, pending, action);
  return said ? *said : "error: " + said.error().message;
}

TEST(WhyNothingFollows, SendsWhatChangesSomething) {
  EXPECT_EQ(Said("Running", std::nullopt, JobAction::kSuspend), "");
  EXPECT_EQ(Said("Pending", std::nullopt, JobAction::kSuspend), "");
  EXPECT_EQ(Said("Aborted", std::nullopt, JobAction::kResume), "");
  EXPECT_EQ(Said("Aborting", std::nullopt, JobAction::kResume), "");
}

TEST(WhyNothingFollows, SaysWhatIsSoAlready) {
  EXPECT_EQ(Said("Aborted", std::nullopt, JobAction::kSuspend), "is suspended already (Aborted)");
  EXPECT_EQ(Said("Running", std::nullopt, JobAction::kResume),
            "is not suspended (Running), so there is nothing to resume");
}

TEST(WhyNothingFollows, RefusesWhatAFinishedJobCannotDo) {
  EXPECT_EQ(Said("Completed", std::nullopt, JobAction::kSuspend),
            "error: is Completed, so it cannot be suspended");
  EXPECT_EQ(Said("Failed", std::nullopt, JobAction::kResume),
            "error: is Failed, so it cannot be resumed");
}

TEST(WhyNothingFollows, CountsTheCommandThatIsOnItsWay) {
  EXPECT_EQ(Said("Running", JobAction::kSuspend, JobAction::kSuspend),
            "suspend was requested before; the job controller has not taken it yet");
  EXPECT_EQ(Said("Running", JobAction::kSuspend, JobAction::kResume), "");
  EXPECT_EQ(Said("Aborted", JobAction::kResume, JobAction::kSuspend), "");
}

TEST(PendingAction, IsTheLastCommandToTheJob) {
  const auto command = [](const std::string& name,
                          const std::string& uid,
                          const std::string& action,
                          const std::string& made) {
    return ListedObject{{"ml", name},
                        R"({"metadata":{"creationTimestamp":")" + made + R"("},"action":")" +
                            action + R"(","target":{"uid":")" + uid + R"("}})"};
  };
  const std::vector<ListedObject> commands = {
      command("a", "u1", "ResumeJob", "2026-01-01T00:00:02Z"),
      command("b", "u1", "AbortJob", "2026-01-01T00:00:01Z"),
      command("c", "u2", "AbortJob", "2026-01-01T00:00:03Z"),
      command("d", "u1", "OpenQueue", "2026-01-01T00:00:04Z")};
  EXPECT_EQ(PendingAction(commands, "u1"), JobAction::kResume);
  EXPECT_EQ(PendingAction(commands, "u2"), JobAction::kSuspend);
  EXPECT_EQ(PendingAction(commands, "u3"), std::nullopt);
}

}  // namespace
}  // namespace strata::inspect
