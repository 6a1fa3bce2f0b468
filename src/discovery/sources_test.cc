// The texts of each source, turned into fabrics and trees.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "discovery/infiniband.h"
#include "discovery/label.h"
#include "discovery/lldp.h"
#include "discovery/naming.h"
#include "discovery/topograph.h"
#include "discovery/ufm.h"
#include "objects/load.h"

namespace strata::discovery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

objects::Node MakeNode(const std::string& name, Labels labels = {}) {
  objects::Node node;
  node.meta.name = name;
  node.meta.labels = std::move(labels);
  return node;
}

std::vector<std::string> LinksOf(const Fabric& fabric) {
  std::vector<std::string> links;
  for (const auto& [pair, count] : fabric.host_links) {
    links.push_back(pair.first + ">" + fabric.switches.at(pair.second) + " x" +
                    std::to_string(count.links()));
  }
  return links;
}

constexpr const char* kOneLeaf = R"(#
# Topology file

vendid=0x2c9
switchguid=0x1(1)
Switch	40 "S-1"		# "MF0;leaf-01:MQM8700/U1" enhanced port 0 lid 4 lmc 0
[1]	"H-1"[1](a1) 		# "Node-01 mlx5_0" lid 111 4xHDR
[2]	"H-2"[1](a2) 		# "MT4129 ConnectX7   Mellanox Technologies" lid 1 4xHDR
[41]	"H-3"[1](a3) 		# "Mellanox Technologies Aggregation Node" lid 1 4xHDR

caguid=0x1
Ca	1 "H-1"		# "Node-01 mlx5_0"
[1](a1) 	"S-1"[1]		# lid 111 lmc 0 "MF0;leaf-01:MQM8700/U1" lid 4 4xHDR

Ca	1 "H-2"		# "MT4129 ConnectX7   Mellanox Technologies"
[1](a2) 	"S-1"[2]		# lid 111 lmc 0 "MF0;leaf-01:MQM8700/U1" lid 4 4xHDR

Ca	1 "H-3"		# "Mellanox Technologies Aggregation Node"
[1](a3) 	"S-1"[41]		# lid 111 lmc 0 "MF0;leaf-01:MQM8700/U1" lid 4 4xHDR)";

TEST(Ibnetdiscover, CountsEachLinkOnceAndUnnamedHostsApart) {
  const Result<Fabric> fabric = ParseIbnetdiscover(kOneLeaf);
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(LinksOf(*fabric), ElementsAre("Node-01>leaf-01 x1"));
  EXPECT_EQ(fabric->unnamed_hosts, 1U);
}

TEST(Ibnetdiscover, ALinkToAMissingBlockIsAPartialAnswer) {
  const Result<Fabric> fabric = ParseIbnetdiscover("Switch\t40 \"S-1\"\n[1]\t\"S-2\"[3]\n");
  ASSERT_FALSE(fabric.has_value());
  EXPECT_EQ(fabric.error().message,
            "line 2: S-1 links to S-2, which is not in the text: the answer is partial (run "
            "ibnetdiscover again)");
}

TEST(Ibnetdiscover, RejectsOtherTextsWithTheirLine) {
  for (const char* text : {"", "#\n", "\n\n", "vendid=1\n"}) {
    EXPECT_FALSE(ParseIbnetdiscover(text).has_value()) << text;
  }
  const auto error = [](const char* text) { return ParseIbnetdiscover(text).error().message; };
  EXPECT_THAT(error("hello there\n"), HasSubstr("line 1: want the text that ibnetdiscover prints"));
  EXPECT_THAT(error("[1]\t\"S-1\"[2]\n"), HasSubstr("line 1: want a port"));
  EXPECT_THAT(error("Switch\t1 \"S-1\"\n[1]\t\"S-"), HasSubstr("line 2: want a port"));
  EXPECT_THAT(error("Switch\t1 \"S-1\"\n\nSwitch\t1 \"S-1\"\n"), HasSubstr("duplicate block S-1"));
}

TEST(Ibnetdiscover, IgnoresANameOfTwoMachines) {
  const Result<Fabric> fabric = ParseIbnetdiscover(
      "Switch\t1 \"S-1\"\n\nCa\t1 \"H-1\" # \"ubuntu mlx5_0\"\n[1](1) \"S-1\"[1]\n\n"
      "Ca\t1 \"H-2\" # \"ubuntu mlx5_0\"\n[1](2) \"S-1\"[2]\n\n"
      "Ca\t2 \"H-3\" # \"two-ports mlx5_0\"\n[1](3) \"S-1\"[3]\n[2](4) \"S-1\"[4]\n");
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(LinksOf(*fabric), ElementsAre("two-ports>S-1 x2"));
  EXPECT_EQ(fabric->unnamed_hosts, 2U);
}

constexpr const char* kPortLines =
    "CA   117  1 0xa1 4x HDR - SW     4  4 0xc1 ( 'node-08 mlx5_1' - 'MF0;leaf-04:MQM8700/U1' )\n"
    "CA   118  2 0xa2 4x HDR - SW     4  5 0xc1 ( 'node-08 mlx5_1' - 'MF0;leaf-04:MQM8700/U1' )\n"
    "SW     4  4 0xc1 4x HDR - CA   117  1 0xa1 ( 'MF0;leaf-04:MQM8700/U1' - 'node-08 mlx5_1' )\n"
    "SW     4 40 0xc1 4x SDR                                    'MF0;leaf-04:MQM8700/U1'\n";

TEST(IbnetdiscoverPorts, AreReadAsTheLongFormIs) {
  const Result<Fabric> fabric = ParseIbnetdiscover(kPortLines);
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(LinksOf(*fabric), ElementsAre("node-08>leaf-04 x2"));
}

TEST(IbnetdiscoverPorts, ALinkToASwitchWithoutLinesIsAPartialAnswer) {
  const std::string text(kPortLines);
  const Result<Fabric> fabric = ParseIbnetdiscover(text.substr(0, text.find('\n')));
  ASSERT_FALSE(fabric.has_value());
  EXPECT_THAT(fabric.error().message,
              HasSubstr("line 1: 0xa1 links to 0xc1, which is not in the text"));
  EXPECT_THAT(ParseIbnetdiscover(text + "SW 4 4 0xc1 4x HDR - CA 1").error().message,
              HasSubstr("line 5: want a port as ibnetdiscover -p prints it"));
}

std::string Neighbour(const std::string& interface,
                      const std::string& chassis,
                      const std::string& name,
                      const std::string& port,
                      const std::string& capability) {
  return R"({"name":")" + interface + R"(","chassis":[{"id":[{"type":"mac","value":")" + chassis +
         R"("}],"name":[{"value":")" + name + R"("}],"capability":[{"type":")" + capability +
         R"(","enabled":true}]}],"port":[{"id":[{"type":"ifname","value":")" + port + R"("}]}]})";
}

std::string Json0(const std::vector<std::string>& neighbours) {
  std::string text = R"({"lldp":[{"interface":[)";
  for (std::size_t i = 0; i < neighbours.size(); ++i) text += (i == 0 ? "" : ",") + neighbours[i];
  return text + "]}]}";
}

Result<Fabric> FabricOfTexts(const std::map<std::string, std::string>& texts,
                             const HostNames& names,
                             const std::vector<NamePattern>& interfaces) {
  TRY_ASSIGN(const LldpReports reports, ReadLldpReports(texts));
  return FabricOfLldp(reports, names, interfaces);
}

TEST(Lldp, ALinkThatBothEndsReportIsOneLink) {
  const Result<Fabric> fabric =
      FabricOfTexts({{"node-01", Json0({Neighbour("eth2", "m1", "leaf01", "swp1", "Bridge")})},
                     {"leaf01", Json0({Neighbour("swp1", "m9", "node-01", "eth2", "Station")})}},
                    HostNames(),
                    {});
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(LinksOf(*fabric), ElementsAre("node-01>leaf01 x1"));
}

TEST(Lldp, AClusterNodeIsAHostEvenIfItBridges) {
  const std::vector<objects::Node> nodes = {MakeNode("node-01")};
  const Result<Fabric> fabric =
      FabricOfTexts({{"leaf01", Json0({Neighbour("swp1", "m9", "node-01", "eth2", "Bridge")})}},
                    HostNames(nodes),
                    {});
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(LinksOf(*fabric), ElementsAre("node-01>leaf01 x1"));
}

TEST(Lldp, OnlyTheTrustedInterfacesCountAtEitherEnd) {
  const std::vector<NamePattern> only = {*NamePattern::Compile("^(?:eth[23])$")};
  const Result<Fabric> fabric =
      FabricOfTexts({{"node-01",
                      Json0({Neighbour("eth0", "m0", "mgmt", "p1", "Bridge"),
                             Neighbour("eth2", "m1", "leaf01", "swp1", "Bridge")})},
                     {"mgmt", Json0({Neighbour("p1", "m9", "node-01", "eth0", "Station")})}},
                    HostNames(),
                    only);
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(LinksOf(*fabric), ElementsAre("node-01>leaf01 x1"));
}

TEST(Lldp, SwitchesAreToldApartByChassis) {
  const Result<Fabric> fabric =
      FabricOfTexts({{"a", Json0({Neighbour("eth2", "m1", "leaf", "swp1", "Bridge")})},
                     {"b", Json0({Neighbour("eth2", "m2", "leaf", "swp1", "Bridge")})}},
                    HostNames(),
                    {});
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(fabric->switches, UnorderedElementsAre(Pair("m1", "leaf"), Pair("m2", "leaf")));
}

// Copies of one image, or a machine that passes for another: as one they would join two racks.
TEST(Lldp, HostsThatClaimOneChassisJoinNothing) {
  const Result<Fabric> fabric =
      FabricOfTexts({{"leaf01",
                      Json0({Neighbour("swp1", "m7", "node-01", "eth2", "Station"),
                             Neighbour("swp2", "m8", "node-02", "eth2", "Station")})},
                     {"leaf02",
                      Json0({Neighbour("swp1", "m7", "node-03", "eth2", "Station"),
                             Neighbour("swp2", "m9", "node-04", "eth2", "Station")})},
                     {"node-01", Json0({Neighbour("eth2", "m1", "leaf01", "swp1", "Bridge")})}},
                    HostNames(),
                    {});
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(LinksOf(*fabric), ElementsAre("node-02>leaf01 x1", "node-04>leaf02 x1"));
  EXPECT_THAT(fabric->disputed, ElementsAre(Pair("m7", ElementsAre("node-01", "node-03"))));
}

TEST(Lldp, HostsThatBridgeAndClaimOneChassisAreNotOneSwitch) {
  const Result<Fabric> fabric =
      FabricOfTexts({{"node-01", Json0({Neighbour("eth2", "m7", "vm-host-1", "p1", "Bridge")})},
                     {"node-02", Json0({Neighbour("eth2", "m7", "vm-host-2", "p1", "Bridge")})},
                     {"vm-host-1", Json0({Neighbour("p1", "m8", "node-01", "eth2", "Station")})}},
                    HostNames(),
                    {});
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(LinksOf(*fabric), IsEmpty());
  EXPECT_THAT(fabric->switches, IsEmpty());
}

TEST(Lldp, AMachineOfAShortAndAFullNameIsOneMachine) {
  const Result<Fabric> fabric = FabricOfTexts(
      {{"leaf01", Json0({Neighbour("swp1", "m7", "node-01", "eth2", "Station")})},
       {"leaf02", Json0({Neighbour("swp1", "m7", "node-01.example.com", "eth3", "Station")})}},
      HostNames(),
      {});
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(fabric->disputed, IsEmpty());
}

TEST(Lldp, ANeighbourWithoutANameIsItsChassis) {
  const Result<Fabric> fabric = FabricOfTexts(
      {{"a", R"({"lldp":[{"interface":[{"name":"e","chassis":[{"id":[{"value":"m1"}]}]}]}]})"}},
      HostNames(),
      {});
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(LinksOf(*fabric), ElementsAre("a>m1 x1"));
}

TEST(Lldp, IgnoresANeighbourWithoutNameAndChassis) {
  const Result<Fabric> fabric =
      FabricOfTexts({{"leaf01",
                      Json0({Neighbour("swp1", "m9", "node-01", "eth2", "Station"),
                             Neighbour("swp2", "", "", "p1", "Bridge")})},
                     {"node-02", Json0({Neighbour("eth2", "", "", "p1", "Bridge")})}},
                    HostNames(),
                    {});
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  EXPECT_THAT(fabric->switches, ElementsAre(Pair("leaf01", "leaf01")));
}

TEST(Lldp, OtherFormsAreRefusedByName) {
  const auto error = [](const char* text) {
    return FabricOfTexts({{"node-01", text}}, HostNames(), {}).error().message;
  };
  EXPECT_EQ(error(R"({"lldp":{"interface":{}}})"),
            "node-01: lldp: want the form of lldpctl -f json0 (a list)");
  EXPECT_EQ(error("{}"), "node-01: lldp: is required");
  EXPECT_THAT(error("not json"), HasSubstr("node-01: "));
  EXPECT_TRUE(FabricOfTexts({{"n", R"({"lldp":[{}]})"}}, HostNames(), {}).has_value());
}

TEST(Ufm, APortThatIsDownMakesNoLeafAndDropsNoHost) {
  const Result<UfmPage> page = ParseUfmPorts(R"([
    {"description":"Computer IB Port","system_name":"n1","systemID":"0xA","logical_state":"Active","peer_node_name":"leaf-1","peer_node_guid":"0xC1"},
    {"description":"Computer IB Port","system_name":"n1","systemID":"a","logical_state":"Down","peer_node_name":"N/A","peer_node_guid":"N/A"},
    {"description":"Computer IB Port","system_name":"n2","logical_state":"Down","peer_node_name":null},
    {"description":"Switch IB Port","system_name":"leaf-1","systemID":"c1","logical_state":"Active","peer_node_name":"n1","peer_node_guid":"a"}])");
  ASSERT_TRUE(page.has_value()) << page.error().message;
  const Fabric fabric = FabricOfUfm(page->ports);
  EXPECT_THAT(LinksOf(fabric), ElementsAre("n1>leaf-1 x1"));
  EXPECT_THAT(fabric.hosts, ElementsAre(Key("n1"), Key("n2")));
}

TEST(Ufm, IgnoresAPortWithoutAnOwner) {
  const Result<UfmPage> page = ParseUfmPorts(R"([
    {"description":"Computer IB Port","system_name":"n1","peer_node_name":"leaf-1"},
    {"description":"Computer IB Port","system_name":"n2","peer_node_name":"leaf-2"},
    {"description":"Switch IB Port","peer_node_name":"n1"},
    {"description":"Switch IB Port","peer_node_name":"n2"}])");
  ASSERT_TRUE(page.has_value()) << page.error().message;
  EXPECT_THAT(LinksOf(FabricOfUfm(page->ports)), ElementsAre("n1>leaf-1 x1", "n2>leaf-2 x1"));
}

TEST(Ufm, AggregationNodesAndVendorNamesAreNotHosts) {
  const Result<UfmPage> page = ParseUfmPorts(R"([
    {"description":"Computer IB Port","system_name":"n1","peer_node_name":"leaf-1"},
    {"description":"Computer IB Port","system_name":"Mellanox Technologies Aggregation Node","peer_node_name":"spine-1"},
    {"description":"Computer IB Port","system_name":"b8","node_description":"Mellanox Technologies Aggregation Node","peer_node_name":"spine-1"},
    {"description":"Computer IB Port","system_name":"MT4129 ConnectX7   Mellanox Technologies","peer_node_name":"leaf-1"},
    {"description":"Switch IB Port","system_name":"leaf-1","peer_node_name":"spine-1"},
    {"description":"Switch IB Port","system_name":"spine-1","peer_node_name":"leaf-1"}])");
  ASSERT_TRUE(page.has_value()) << page.error().message;
  const Fabric fabric = FabricOfUfm(page->ports);
  EXPECT_THAT(LinksOf(fabric), ElementsAre("n1>leaf-1 x1"));
  EXPECT_THAT(fabric.hosts, ElementsAre(Key("n1")));
  EXPECT_EQ(fabric.unnamed_hosts, 1U);
}

TEST(Ufm, ReadsThePlainAnswerOfAnOldServer) {
  const Result<UfmPage> page = ParseUfmPorts(
      R"([{"description":"Computer IB Port","system_name":"n1","peer_node_name":"leaf0","tier":null}])");
  ASSERT_TRUE(page.has_value()) << page.error().message;
  EXPECT_THAT(LinksOf(FabricOfUfm(page->ports)), ElementsAre("n1>leaf0 x1"));
}

TEST(Ufm, AnswersOfOtherShapesAreRefused) {
  for (const char* text :
       {"null", "{}", "3", "[3]", R"({"data":3})", "[", "", R"([{"description":3}])"}) {
    EXPECT_FALSE(ParseUfmPorts(text).has_value()) << text;
  }
  EXPECT_THAT(ParseUfmPorts("[]")->ports, IsEmpty());
}

TEST(Topograph, SkipsInstancesThatAreNotNodes) {
  const std::vector<objects::Node> nodes = {MakeNode("n1")};
  std::size_t left_out = 0;
  const Result<Tree> tree = ParseTopograph(
      R"({"instances":[{"id":"n1","network_layers":["l1","s1"]},{"id":"x","network_layers":["l1"]}]})",
      HostNames(nodes),
      left_out);
  ASSERT_TRUE(tree.has_value()) << tree.error().message;
  EXPECT_EQ(left_out, 1U);
  EXPECT_THAT(tree->groups, ::testing::SizeIs(2));
  EXPECT_FALSE(ParseTopograph("{}", HostNames(), left_out).has_value());
}

TEST(Labels, ANodeCountsFromItsLowestLabelUpToTheFirstItLacks) {
  const LabelConfig::Type type{.name = "A3", .keys = {"pod", "rack"}};
  const std::vector<objects::Node> nodes = {MakeNode("full", {{"pod", "p"}, {"rack", "r"}}),
                                            MakeNode("low", {{"rack", "r2"}}),
                                            MakeNode("high", {{"pod", "p"}})};
  const Tree tree = TreeOfLabels(type, nodes);
  ASSERT_THAT(tree.groups, ::testing::SizeIs(3));
  EXPECT_THAT(tree.groups[0].labels, ElementsAre(Pair("rack", "r")));
  EXPECT_THAT(tree.groups[0].nodes, ElementsAre("full"));
  EXPECT_THAT(tree.groups[1].nodes, ElementsAre("low"));
  EXPECT_EQ(tree.groups[2].tier_name, "pod");
  EXPECT_THAT(tree.groups[0].name, ::testing::MatchesRegex("hypernode-a3-tier1-[a-z0-9]{5}"));
}

TEST(Labels, ManyDomainsHaveDifferentNames) {
  const LabelConfig::Type type{.name = "t", .keys = {"rack"}};
  std::vector<objects::Node> nodes;
  for (int i = 0; i < 20'000; ++i) {
    nodes.push_back(MakeNode("n" + std::to_string(i), {{"rack", "r" + std::to_string(i)}}));
  }
  std::map<std::string, int> names;
  for (const Group& group : TreeOfLabels(type, nodes).groups) ++names[group.name];
  EXPECT_EQ(names.size(), nodes.size());
}

TEST(HostNames, FindANodeByEachOfItsNames) {
  objects::Node node = MakeNode("node-01.example.com", {{"kubernetes.io/hostname", "Blade7"}});
  node.internal_ips = {"10.0.0.1"};
  const std::vector<objects::Node> nodes = {node, MakeNode("node-02")};
  const HostNames names(nodes);
  for (const char* host :
       {"node-01.example.com", "NODE-01", "node-01.other", "blade7", "10.0.0.1"}) {
    EXPECT_EQ(names.Find(host), "node-01.example.com") << host;
  }
  EXPECT_EQ(names.Find("storage-1"), std::nullopt);
  EXPECT_EQ(HostNames().Find("Node_01"), "node-01");
  EXPECT_EQ(HostNames().Find("localhost"), std::nullopt);
  EXPECT_EQ(HostNames().Find("___"), std::nullopt);
}

TEST(HostNames, AShortNameOfTwoNodesFindsNone) {
  const std::vector<objects::Node> nodes = {MakeNode("n1.a"), MakeNode("n1.b")};
  EXPECT_EQ(HostNames(nodes).Find("n1"), std::nullopt);
  EXPECT_EQ(HostNames(nodes).Find("n1.a"), "n1.a");
}

TEST(Slug, StaysWhatItIsOrEndsInAHash) {
  EXPECT_EQ(Slug("leaf-01"), "leaf-01");
  EXPECT_THAT(Slug("Leaf_01"), ::testing::MatchesRegex("leaf-01-[0-9a-f]{8}"));
  EXPECT_NE(Slug("Leaf_01"), Slug("leaf.01"));
  EXPECT_THAT(Slug(std::string(300, 'x')), ::testing::SizeIs(49));
  EXPECT_THAT(Slug(""), ::testing::MatchesRegex("[0-9a-f]{8}"));
  EXPECT_THAT(Slug("---"), ::testing::MatchesRegex("[0-9a-f]{8}"));
}

}  // namespace
}  // namespace strata::discovery
