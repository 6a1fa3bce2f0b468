#include "apps/aliases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ExpandAliases, KnowsTheWordsOfKubectlVcctlAndSlurm) {
  EXPECT_THAT(ExpandAliases({"jobs", "-A"}), ElementsAre("job", "list", "-A"));
  EXPECT_THAT(ExpandAliases({"get", "nodes"}), ElementsAre("top"));
  EXPECT_THAT(ExpandAliases({"queue", "get", "ml"}), ElementsAre("queue", "describe", "ml"));
  EXPECT_THAT(ExpandAliases({"squeue"}), ElementsAre("job", "list"));
}

TEST(ExpandAliases, TakesAPluralBeforeACommandForTheCommand) {
  EXPECT_THAT(ExpandAliases({"jobs", "describe", "train"}),
              ElementsAre("job", "describe", "train"));
  EXPECT_THAT(ExpandAliases({"jobs", "view", "train"}), ElementsAre("job", "describe", "train"));
}

TEST(ExpandAliases, LooksBehindHelp) {
  EXPECT_THAT(ExpandAliases({"help", "jobs"}), ElementsAre("help", "job", "list"));
  EXPECT_THAT(ExpandAliases({"help"}), ElementsAre("help"));
}

TEST(ExpandAliases, LeavesWhatIsNoAlias) {
  EXPECT_THAT(ExpandAliases({"job", "describe", "jobs"}), ElementsAre("job", "describe", "jobs"));
  EXPECT_THAT(ExpandAliases({"get", "pods"}), ElementsAre("get", "pods"));
  EXPECT_THAT(ExpandAliases({}), IsEmpty());
}

}  // namespace
}  // namespace strata
