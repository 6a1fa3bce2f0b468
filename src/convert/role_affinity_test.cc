#include "convert/role_affinity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

objects::Metadata With(const std::string& key, const std::string& value) {
  objects::Metadata meta;
  meta.annotations["volcano.sh/task-topology-" + key] = value;
  return meta;
}

TEST(RoleAffinity, GroupsAreReadAsWritten) {
  EXPECT_THAT(ToRoleAffinity(With("affinity", "ps,worker; a , b;c;")).value().together,
              ElementsAre(ElementsAre("ps", "worker"), ElementsAre("a", "b"), ElementsAre("c")));
  EXPECT_THAT(ToRoleAffinity(With("anti-affinity", "ps")).value().apart,
              ElementsAre(ElementsAre("ps")));
  EXPECT_THAT(ToRoleAffinity(With("task-order", "ps,worker")).value().order,
              ElementsAre("ps", "worker"));
}

TEST(RoleAffinity, NoAnnotationsAreNoRules) {
  EXPECT_TRUE(ToRoleAffinity({}).value().empty());
  EXPECT_THAT(ToRoleAffinity(With("affinity", "")).value().together, IsEmpty());
}

TEST(RoleAffinity, ANameTwiceInOneGroupIsAnError) {
  for (const char* key : {"affinity", "anti-affinity", "task-order"}) {
    EXPECT_EQ(ToRoleAffinity(With(key, "ps,worker,ps")).error().message,
              "metadata.annotations.volcano.sh/task-topology-" + std::string(key) +
                  ": task \"ps\" is a duplicate in one group");
  }
  EXPECT_TRUE(ToRoleAffinity(With("affinity", "ps;ps,worker")).has_value()) << "two groups";
}

}  // namespace
}  // namespace strata
