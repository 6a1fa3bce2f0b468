#include "report/names.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/kind_words.h"

namespace strata {
namespace {

using testing::ElementsAre;

TEST(NearestNames, SortsByTypingErrorsThenByName) {
  EXPECT_THAT(NearestNames({"b", "abd", "abc", "abcd"}, "abc", 3),
              ElementsAre("abc", "abcd", "abd"));
  EXPECT_THAT(NearestNames({}, "abc", 3), ElementsAre());
}

TEST(SimilarNames, AreThoseThatSomebodyMayHaveMeant) {
  const std::vector<std::string> names = {
      "ml/train", "ml/trainer", "ml/serve", "default/train", "x/w"};
  EXPECT_THAT(SimilarNames(names, "ml/trian", 3), ElementsAre("ml/train"));
  EXPECT_THAT(SimilarNames(names, "ops/train", 3), ElementsAre("ml/train", "default/train"));
  EXPECT_THAT(SimilarNames(names, "ml/nothing", 3), ElementsAre());
  EXPECT_THAT(SimilarNames({"pytorch-distributed-training"}, "pytorch", 3),
              ElementsAre("pytorch-distributed-training"));
  EXPECT_EQ(NearestClause({"train", "serve"}, "trai"), "; nearest is train");
  EXPECT_EQ(NearestClause({"train", "trail"}, "trai"), "; nearest are trail, train");
  EXPECT_EQ(NearestClause({"train"}, "zzz"), "");
}

TEST(KindOfWord, KnowsTheWordsOfKubectlInAnyCase) {
  EXPECT_EQ(KindOfWord("VCJob"), "Job");
  EXPECT_EQ(KindOfWord("deploy"), "Deployment");
  EXPECT_EQ(KindOfWord("POD"), "Pod");
  EXPECT_EQ(KindOfWord("PyTorchJob"), "PyTorchJob") << "no namespace has capital letters";
  EXPECT_EQ(KindOfWord("ml"), "");
}

TEST(NaturalLess, ReadsNumbersInNamesAsNumbers) {
  std::vector<std::string> names = {
      "s10", "s2", "rack-2-node-10", "s", "s02", "rack-2-node-9", "s1x"};
  std::sort(names.begin(), names.end(), NaturalLess);
  EXPECT_THAT(names,
              ElementsAre("rack-2-node-9", "rack-2-node-10", "s", "s1x", "s02", "s2", "s10"));
  EXPECT_FALSE(NaturalLess("s2", "s2"));
}

TEST(NameSome, ShowsSixNamesAndCountsTheRest) {
  EXPECT_EQ(NameSome({"a", "b"}), "a, b");
  EXPECT_EQ(NameSome({"a", "b", "c", "d", "e", "f", "g", "h"}), "a, b, c, d, e, f and 2 more");
}

}  // namespace
}  // namespace strata
