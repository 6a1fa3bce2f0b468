#include "discovery/node_report.h"

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "discovery/discover.h"
#include "discovery/render.h"
#include "discovery/test_reader.h"
#include "tests/support/property.h"

namespace strata::discovery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Json = nlohmann::json;

AdapterPort PortTo(const std::string& leaf, const std::string& device = "mlx5_0") {
  AdapterPort port;
  port.device = device;
  port.link_layer = "InfiniBand";
  port.state = "ACTIVE";
  port.leaf = leaf;
  port.leaf_name = "MF0;leaf-" + leaf + ":MQM8700/U1";
  return port;
}

LldpNeighbour SwitchOn(const std::string& interface, const std::string& name) {
  return {.interface = interface,
          .chassis = "mac-" + name,
          .name = name,
          .port = "swp1",
          .tells_capabilities = true,
          .forwards = true};
}

objects::Node NodeWith(const std::string& name, const std::string& text) {
  objects::Node node;
  node.meta.name = name;
  node.meta.annotations[std::string(kFabricAnnotation)] = text;
  return node;
}

TEST(NodeReport, IsReadAsItWasWritten) {
  NodeReport report;
  report.ports = {PortTo("0002c90200000001")};
  report.ports[0].rate = "400 Gb/sec (4X NDR)";
  report.ports[0].guid = "0002c903000a0001";
  report.ports[0].lid = 17;
  report.ports[0].subnet = "fe80000000000000";
  report.neighbours = {SwitchOn("eth0", "leaf01"), {.interface = "eth1", .name = "who"}};
  report.distances = {{.device = "mlx5_0", .gpu = "GPU-1", .level = "PIX"}};
  const auto read = ReadNodeReport(NodeReportText(report));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, report);
}

TEST(NodeReport, IsNeverLongerThanAnAnnotationShouldBe) {
  NodeReport report;
  for (int i = 0; i < 1000; ++i) {
    report.distances.push_back({"mlx5_" + std::to_string(i), "GPU-1", "SYS"});
  }
  report.ports = {PortTo("1")};
  auto read = ReadNodeReport(NodeReportText(report));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->ports, report.ports);
  EXPECT_GT(read->distances.size(), 100U);
  EXPECT_LT(read->distances.size(), 1000U);
  for (int i = 0; i < 1000; ++i) report.ports.push_back(PortTo("1", "mlx5_" + std::to_string(i)));
  read = ReadNodeReport(NodeReportText(report));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_GT(read->ports.size(), 50U);
}

TEST(NodeReport, AnotherTextIsAnErrorOfItsNodeAlone) {
  const std::vector<objects::Node> nodes = {NodeWith("a", "{}"),
                                            NodeWith("b", "[]"),
                                            NodeWith("c", std::string(20'000, ' ')),
                                            objects::Node()};
  const NodeReports all = ReportsOf(nodes);
  EXPECT_THAT(all.reports, ElementsAre(::testing::Key("a")));
  EXPECT_THAT(all.problems,
              ElementsAre("node b: annotation strata.sh/fabric is not a JSON object",
                          "node c: annotation strata.sh/fabric has more than 16384 bytes"));
  EXPECT_THAT(all.silent, ElementsAre(""));
}

TEST(NodeReport, OnlyPortsOfInfinibandThatAreUpAreLinks) {
  NodeReport report;
  report.ports = {PortTo("1"), PortTo("2"), PortTo("3"), PortTo("")};
  report.ports[1].state = "DOWN";
  report.ports[2].link_layer = "Ethernet";
  const Fabric fabric = FabricOfPorts({{"n", report}});
  EXPECT_THAT(fabric.switches, ElementsAre(::testing::Pair("S-1", "leaf-1")));
  EXPECT_EQ(fabric.host_links.size(), 1U);
  EXPECT_EQ(fabric.hosts.size(), 1U);
}

// A network in which every host has a link to each switch of its block, as the fabric's own tools
// and the agents of the hosts describe it.
struct Network {
  std::vector<objects::Node> nodes;          // with reports
  std::string ibnetdiscover;                 // of all
  std::map<std::string, std::string> json0;  // of hosts

  // One link of a host. `leaf` has 16 digits.
  void Link(NodeReport& report, const std::string& host, const std::string& leaf, int rail) {
    const std::string device = "mlx5_" + std::to_string(rail);
    report.ports.push_back(PortTo(leaf, device));
    report.neighbours.push_back(SwitchOn("eth" + std::to_string(rail), "leaf-" + leaf));
    const std::string adapter = "H-" + host + std::to_string(rail);
    adapters_ += "Ca\t1 \"" + adapter + "\"\t# \"" + host + " " + device + "\"\n[1](a) \t\"S-" +
                 leaf + "\"[1]\n\n";
    switches_[leaf] += "[1]\t\"" + adapter + "\"[1](a)\n";
  }
  void AddHost(const std::string& host, const NodeReport& report) {
    nodes.push_back(NodeWith(host, NodeReportText(report)));
    Json interfaces = Json::array();
    for (const LldpNeighbour& neighbour : report.neighbours) {
      const Json mac = {{"type", "mac"}, {"value", neighbour.chassis}};
      const Json bridge = {{"type", "Bridge"}, {"enabled", true}};
      const Json name = {{"value", neighbour.name}};
      const Json port = {{"type", "ifname"}, {"value", neighbour.port}};
      interfaces.push_back({{"name", neighbour.interface},
                            {"chassis",
                             Json::array({{{"id", Json::array({mac})},
                                           {"name", Json::array({name})},
                                           {"capability", Json::array({bridge})}}})},
                            {"port", Json::array({{{"id", Json::array({port})}}})}});
    }
    json0[host] = Json({{"lldp", Json::array({{{"interface", interfaces}}})}}).dump();
  }
  void Finish() {
    for (const auto& [leaf, ports] : switches_) {
      ibnetdiscover +=
          "Switch\t40 \"S-" + leaf + "\"\t# \"MF0;leaf-" + leaf + ":MQM8700/U1\"\n" + ports + "\n";
    }
    ibnetdiscover += adapters_;
  }

 private:
  std::string adapters_;
  std::map<std::string, std::string> switches_;
};

std::string TreeOf(const Network& network, const std::string& source, const std::string& config) {
  const auto conf = ParseDiscoveryConf({.name = "c.conf",
                                        .text = "networkTopologyDiscovery:\n- {source: " + source +
                                                ", enabled: true, config: {" + config + "}}\n"});
  EXPECT_TRUE(conf.has_value()) << conf.error().message;
  DiscoverInput input;
  input.sources = conf->sources;
  input.nodes = network.nodes;
  const Discovery found = Discover(input, [&](Duration /*limit*/) {
    std::map<std::string, std::string> files = {{"ibnetdiscover.txt", network.ibnetdiscover}};
    for (const auto& [machine, text] : network.json0) files["reports/" + machine + ".json0"] = text;
    return std::make_unique<FakeReader>(std::move(files));
  });
  EXPECT_THAT(found.errors, IsEmpty());
  return RenderYaml(found.hypernodes);
}

Network MakeNetwork(int blocks, int hosts, int rails, int miscabled) {
  Network network;
  const auto leaf = [&](int block, int rail) {
    return fmt::format("{:016x}", 0x100 + block * 16 + rail);
  };
  for (int i = 0; i < hosts; ++i) {
    const std::string host = "node-" + std::to_string(i);
    NodeReport report;
    for (int rail = 0; rail < rails; ++rail) {
      const bool wrong = i == miscabled && rail == 0;
      network.Link(report, host, leaf((i + (wrong ? 1 : 0)) % blocks, rail), rail);
    }
    network.AddHost(host, report);
  }
  network.Finish();
  return network;
}

TEST(FromNodes, AThousandNodesMakeTheTreeThatTheFabricsOwnToolsMake) {
  const Network network = MakeNetwork(63, 1000, 4, 7);
  const std::string tree = TreeOf(network, "infiniband", "from: nodes");
  EXPECT_THAT(tree, HasSubstr("leaf-0000000000000100"));
  EXPECT_EQ(tree, TreeOf(network, "infiniband", "file: ibnetdiscover.txt"));
  EXPECT_EQ(TreeOf(network, "roce", "from: nodes"), TreeOf(network, "roce", "lldpDir: reports"));
}

TEST(FromNodesProperty, AnyNetworkOfLeavesIsTheSameEitherWay) {
  testing::CheckProperty(100, [] {
    const Network network = MakeNetwork(*rc::gen::inRange(1, 6),
                                        *rc::gen::inRange(1, 40),
                                        *rc::gen::inRange(1, 5),
                                        *rc::gen::inRange(0, 40));
    RC_ASSERT(TreeOf(network, "infiniband", "from: nodes") ==
              TreeOf(network, "infiniband", "file: ibnetdiscover.txt"));
    RC_ASSERT(TreeOf(network, "roce", "from: nodes") ==
              TreeOf(network, "roce", "lldpDir: reports"));
  });
}

TEST(FromNodes, ReportsOfSwitchesAddTheSpines) {
  Network network = MakeNetwork(2, 8, 1, -1);
  const std::string uplink =
      "{\"lldp\":[{\"interface\":[{\"name\":\"swp9\",\"chassis\":[{\"id\":["
      "{\"type\":\"mac\",\"value\":\"mac-spine\"}],\"name\":[{\"value\":"
      "\"spine\"}],\"capability\":[{\"type\":\"Bridge\",\"enabled\":true}]}]"
      ",\"port\":[]}]}]}";
  const std::string all = TreeOf(network, "roce", "lldpDir: reports");
  network.json0 = {{"leaf-0000000000000100", uplink}, {"leaf-0000000000000110", uplink}};
  const std::string both = TreeOf(network, "roce", "from: nodes, lldpDir: reports");
  EXPECT_THAT(all, ::testing::Not(HasSubstr("tierName: spine")));
  EXPECT_THAT(both, HasSubstr("tierName: spine"));
}

}  // namespace
}  // namespace strata::discovery
