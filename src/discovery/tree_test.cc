#include "discovery/tree.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "discovery/grouping.h"
#include "discovery/path_tree.h"

namespace strata::discovery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void Cable(Fabric& fabric, const std::string& host, const std::string& leaf) {
  fabric.AddSwitch("id-" + leaf, leaf);
  fabric.AddHost(host);
  fabric.LinkHost(host, "id-" + leaf, Fabric::Seen::kByHost);
}

void Uplink(Fabric& fabric, const std::string& lower, const std::string& upper) {
  fabric.AddSwitch("id-" + lower, lower);
  fabric.AddSwitch("id-" + upper, upper);
  fabric.LinkSwitches("id-" + lower, "id-" + upper);
}

// "t1 leaf leaf-1: a b" for leaves, "t2 spine spine-1: leaf-1 leaf-2" above.
std::vector<std::string> Picture(const Tree& tree) {
  std::vector<std::string> lines;
  for (const Group& group : tree.groups) {
    std::string line =
        "t" + std::to_string(group.tier) + " " + group.tier_name + " " + group.anchor + ":";
    for (const std::size_t child : group.children) line += " " + tree.groups[child].anchor;
    for (const std::string& node : group.nodes) line += " " + node;
    lines.push_back(line);
  }
  return lines;
}

// Two pods of two hosts with two rails each, under two spines.
Fabric TwoPods() {
  Fabric fabric;
  for (const std::string host : {"a1", "a2"}) {
    Cable(fabric, host, "leaf-1");
    Cable(fabric, host, "leaf-2");
  }
  for (const std::string host : {"b1", "b2"}) {
    Cable(fabric, host, "leaf-3");
    Cable(fabric, host, "leaf-4");
  }
  for (const std::string leaf : {"leaf-1", "leaf-2", "leaf-3", "leaf-4"}) {
    Uplink(fabric, leaf, "spine-1");
    Uplink(fabric, leaf, "spine-2");
  }
  return fabric;
}

TEST(FormTree, RailsThatShareHostsAreOneLeaf) {
  EXPECT_THAT(
      Picture(FormTree(TwoPods())),
      ElementsAre(
          "t1 leaf leaf-1: a1 a2", "t1 leaf leaf-3: b1 b2", "t2 spine spine-1: leaf-1 leaf-3"));
}

TEST(FormTree, OneMiscabledPortDoesNotMergeTwoGroups) {
  // b2's first rail is in leaf-1 instead of leaf-3, of pods of four.
  Fabric fabric;
  for (const std::string host : {"a1", "a2", "a3", "a4"}) {
    Cable(fabric, host, "leaf-1");
    Cable(fabric, host, "leaf-2");
  }
  for (const std::string host : {"b1", "b3", "b4"}) Cable(fabric, host, "leaf-3");
  for (const std::string host : {"b1", "b2", "b3", "b4"}) {
    Cable(fabric, host, "leaf-4");
    Cable(fabric, host, "leaf-5");
  }
  Cable(fabric, "b2", "leaf-1");
  const Tree tree = FormTree(fabric);
  EXPECT_THAT(Picture(tree),
              ElementsAre("t1 leaf leaf-1: a1 a2 a3 a4", "t1 leaf leaf-3: b1 b2 b3 b4"));
  EXPECT_THAT(tree.notes, ElementsAre("b2 is also cabled to leaf-1, outside its group at leaf-3"));
}

TEST(FormTree, AHostWithEqualLinksToTwoGroupsKeepsItsPreviousGroup) {
  Fabric fabric = TwoPods();
  for (const std::string host : {"b3", "b4"}) {
    Cable(fabric, host, "leaf-3");
    Cable(fabric, host, "leaf-4");
  }
  fabric.host_links.erase({"b1", "id-leaf-3"});
  Cable(fabric, "b1", "leaf-1");
  const std::map<std::string, std::string> before = {
      {"a1", "A"}, {"a2", "A"}, {"b1", "B"}, {"b2", "B"}};
  EXPECT_THAT(Picture(FormTree(fabric, before)),
              ElementsAre("t1 leaf leaf-1: a1 a2",
                          "t1 leaf leaf-3: b1 b2 b3 b4",
                          "t2 spine spine-1: leaf-1 leaf-3"));
  EXPECT_THAT(Picture(FormTree(fabric)).front(), "t1 leaf leaf-1: a1 a2 b1");
}

TEST(FormTree, AHostThatLostItsLinksKeepsItsPreviousGroup) {
  Fabric fabric = TwoPods();
  fabric.host_links.erase({"b1", "id-leaf-3"});
  fabric.host_links.erase({"b1", "id-leaf-4"});
  const std::map<std::string, std::string> before = {{"b1", "B"}, {"b2", "B"}, {"a1", "A"}};
  EXPECT_THAT(Picture(FormTree(fabric, before))[1], "t1 leaf leaf-3: b1 b2");
  EXPECT_THAT(Picture(FormTree(fabric))[1], "t1 leaf leaf-3: b2");
}

TEST(FormTree, ALevelWithoutChoicesIsLeftOut) {
  // Each pod has a spine of its own, and cores join the pods.
  Fabric fabric;
  for (const std::string pod : {"a", "b"}) {
    Cable(fabric, pod + "1", "leaf-" + pod);
    Uplink(fabric, "leaf-" + pod, "spine-" + pod);
    Uplink(fabric, "spine-" + pod, "core-1");
  }
  EXPECT_THAT(
      Picture(FormTree(fabric)),
      ElementsAre("t1 leaf leaf-a: a1", "t1 leaf leaf-b: b1", "t2 core core-1: leaf-a leaf-b"));
}

TEST(FormTree, OneMiscabledUplinkDoesNotMergeTwoSpines) {
  Fabric fabric;
  for (const std::string pod : {"a", "b"}) {
    for (const std::string leaf : {"1", "2", "3"}) {
      Cable(fabric, pod + leaf, "leaf-" + pod + leaf);
      Uplink(fabric, "leaf-" + pod + leaf, "spine-" + pod);
    }
    Uplink(fabric, "spine-" + pod, "core-1");
  }
  Uplink(fabric, "leaf-a1", "spine-b");
  EXPECT_THAT(Picture(FormTree(fabric)),
              ElementsAre("t1 leaf leaf-a1: a1",
                          "t1 leaf leaf-a2: a2",
                          "t1 leaf leaf-a3: a3",
                          "t1 leaf leaf-b1: b1",
                          "t1 leaf leaf-b2: b2",
                          "t1 leaf leaf-b3: b3",
                          "t2 spine spine-a: leaf-a1 leaf-a2 leaf-a3",
                          "t2 spine spine-b: leaf-b1 leaf-b2 leaf-b3",
                          "t3 core core-1: spine-a spine-b"));
}

TEST(FormTree, AHostPortInASpineDoesNotMakeALeafOfIt) {
  Fabric fabric = TwoPods();
  Cable(fabric, "a1", "spine-1");
  EXPECT_THAT(
      Picture(FormTree(fabric)),
      ElementsAre(
          "t1 leaf leaf-1: a1 a2", "t1 leaf leaf-3: b1 b2", "t2 spine spine-1: leaf-1 leaf-3"));
}

TEST(FormTree, AHostThatIsOnlyInASpineIsStillInTheTree) {
  Fabric fabric = TwoPods();
  Cable(fabric, "lone", "spine-1");
  const Tree tree = FormTree(fabric);
  EXPECT_THAT(NodesBelow(tree).back(), ElementsAre("a1", "a2", "b1", "b2", "lone"));
}

TEST(FormTree, FabricsThatAreNotConnectedStayApart) {
  Fabric fabric;
  Cable(fabric, "a1", "leaf-1");
  Cable(fabric, "b1", "leaf-2");
  EXPECT_THAT(Picture(FormTree(fabric)), ElementsAre("t1 leaf leaf-1: a1", "t1 leaf leaf-2: b1"));
}

TEST(FormTree, LeavesThatAreCabledToEachOtherGetATop) {
  Fabric fabric;
  Cable(fabric, "a1", "leaf-1");
  Cable(fabric, "b1", "leaf-2");
  Uplink(fabric, "leaf-1", "leaf-2");
  EXPECT_THAT(
      Picture(FormTree(fabric)),
      ElementsAre("t1 leaf leaf-1: a1", "t1 leaf leaf-2: b1", "t2 fabric leaf-1: leaf-1 leaf-2"));
}

TEST(FormTree, SwitchesOfOneNameAreTwoSwitches) {
  Fabric fabric;
  fabric.AddSwitch("guid-1", "switch");
  fabric.AddSwitch("guid-2", "switch");
  for (const std::string host : {"a", "b"}) fabric.AddHost(host);
  fabric.LinkHost("a", "guid-1", Fabric::Seen::kByHost);
  fabric.LinkHost("b", "guid-2", Fabric::Seen::kByHost);
  EXPECT_THAT(Picture(FormTree(fabric)), ElementsAre("t1 leaf switch: a", "t1 leaf switch: b"));
}

TEST(FormTree, AnEmptyFabricIsAnEmptyTree) {
  EXPECT_THAT(FormTree(Fabric{}).groups, IsEmpty());
}

TEST(GroupByOverlap, HalfOfTheSmallerOneIsEnoughAndLessIsNot) {
  const Shares four = {{0, 1}, {1, 1}, {2, 1}, {3, 1}};
  const Shares half = {{2, 1}, {3, 1}, {4, 1}, {5, 1}};
  const Shares less = {{3, 1}, {6, 1}, {7, 1}};
  EXPECT_THAT(GroupByOverlap({four, half, less}), ElementsAre(0, 0, 2));
  EXPECT_THAT(GroupByOverlap({{}, {}}), ElementsAre(0, 1));
}

TEST(TreeOfPaths, OneValueUnderTwoParentsIsTwoDomains) {
  const Tree tree =
      TreeOfPaths({{"n1", {"r1", "pod-a"}}, {"n2", {"r1", "pod-b"}}}, {"rack", "pod"});
  EXPECT_THAT(
      Picture(tree),
      ElementsAre("t1 rack r1: n1", "t1 rack r1: n2", "t2 pod pod-a: r1", "t2 pod pod-b: r1"));
}

TEST(TreeOfPaths, APathThatEndsEarlyJoinsTheOnlyLongerOne) {
  const Tree tree = TreeOfPaths(
      {{"n1", {"r1", "pod-a"}}, {"n2", {"r1"}}, {"n3", {"r2"}}, {"n4", {}}}, {"rack", "pod"});
  EXPECT_THAT(Picture(tree),
              ElementsAre("t1 rack r1: n1 n2", "t1 rack r2: n3", "t2 pod pod-a: r1"));
}

TEST(TreeOfPaths, APathWithTwoPossibleParentsHasNone) {
  const Tree tree = TreeOfPaths({{"n1", {"r1", "pod-a"}}, {"n2", {"r1", "pod-b"}}, {"n3", {"r1"}}},
                                {"rack", "pod"});
  EXPECT_THAT(Picture(tree),
              ElementsAre("t1 rack r1: n3",
                          "t1 rack r1: n1",
                          "t1 rack r1: n2",
                          "t2 pod pod-a: r1",
                          "t2 pod pod-b: r1"));
}

}  // namespace
}  // namespace strata::discovery
