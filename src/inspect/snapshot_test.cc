#include "inspect/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::inspect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(WithoutManagedFields, LeavesEverythingElseAsItWas) {
  EXPECT_EQ(
      WithoutManagedFields(
          R"({"kind":"Pod","metadata":{"name":"a","managedFields":[{"x":"]"}],"uid":"u"},"spec":{"odd":1.50}})"),
      R"({"kind":"Pod","metadata":{"name":"a","uid":"u"},"spec":{"odd":1.50}})");
  EXPECT_EQ(WithoutManagedFields(R"({"metadata": {"name": "a" , "managedFields": [] } })"),
            R"({"metadata": {"name": "a" } })");
  EXPECT_EQ(WithoutManagedFields(R"({"metadata":{"managedFields":[]}})"), R"({"metadata":{}})");
}

TEST(WithoutManagedFields, KeepsAFieldOfThatNameElsewhere) {
  const std::string text =
      R"({"metadata":{"annotations":{"managedFields":"[]"}},"spec":{"managedFields":[1]}})";
  EXPECT_EQ(WithoutManagedFields(text), text);
}

TEST(WithoutManagedFields, PassesOnWhatItDoesNotUnderstand) {
  for (const std::string text : {"",
                                 "{",
                                 "[]",
                                 R"({"metadata":3})",
                                 R"({"metadata":{"managedFields":{}}})",
                                 R"({"metadata":{"managedFields":[)"}) {
    EXPECT_EQ(WithoutManagedFields(text), text);
  }
}

TEST(ParseTexts, LeavesOutWhatCannotBeUsedAndSaysSo) {
  const auto set = ParseTexts(
      {R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}})",
       R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"Queue","metadata":{"name":"q"},"spec":{"weight":"x"}})",
       R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}})"});
  EXPECT_THAT(set->nodes, SizeIs(2));
  EXPECT_THAT(set->queues, IsEmpty());
  EXPECT_THAT(set->warnings, ElementsAre(HasSubstr("skipped: cluster: Queue q: spec.weight")));
}

TEST(ParseTexts, AnEmptyClusterIsACluster) {
  EXPECT_THAT(ParseTexts({})->warnings, IsEmpty());
}

TEST(SnapshotParts, HaveNoSecrets) {
  for (const kube::WatchSpec& part : SnapshotParts()) {
    EXPECT_NE(part.resource.kind, "Secret");
    EXPECT_EQ(part.resource.kind == "ConfigMap", !part.field_selector.empty());
  }
}

}  // namespace
}  // namespace strata::inspect
