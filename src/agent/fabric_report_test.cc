#include "agent/fabric_report.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"

namespace strata::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A machine's /sys, as files.
class FabricReportTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = root() + "/" + path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text << "\n";
  }
  void Link(const std::string& path, const std::string& to) {
    const std::filesystem::path whole = root() + "/" + path;
    std::filesystem::create_directories(whole.parent_path());
    std::filesystem::create_directories(root() + "/" + to);
    std::filesystem::create_symlink(root() + "/" + to, whole);
  }
  void Port(const std::string& device, const std::string& layer, const std::string& state) {
    const std::string at = "class/infiniband/" + device + "/ports/1/";
    Write(at + "link_layer", layer);
    Write(at + "state", state);
    Write(at + "rate", "400 Gb/sec (4X NDR)");
    Write(at + "lid", "0x1f");
    Write(at + "gids/0", "fe80:0000:0000:0000:0002:c903:000a:0001");
  }
  // A GPU and an adapter at these places in the PCI tree.
  std::string LevelBetween(const std::string& adapter,
                           const std::string& gpu,
                           const char* gpu_numa = "0") {
    std::filesystem::remove_all(root());
    Link("class/infiniband/mlx5_0/device", "devices/" + adapter);
    Link("bus/pci/devices/0000:01:00.0", "devices/" + gpu);
    Write("devices/" + adapter + "/numa_node", "0");
    Write("devices/" + gpu + "/numa_node", gpu_numa);
    Machine machine;
    machine.node.gpus.emplace_back().uuid = "GPU-1";
    machine.bus_ids = {"0000:01:00.0"};
    const auto distances = ReadDistances(root(), {"mlx5_0"}, machine);
    return distances.size() == 1 && distances[0].gpu == "GPU-1" ? distances[0].level : "?";
  }
  std::string root() const { return folder_.path() + "/sys"; }

  strata::testing::TemporaryFolder folder_;
};

TEST_F(FabricReportTest, PortsAreReadAsTheKernelDescribesThem) {
  Port("mlx5_1", "Ethernet", "1: DOWN");
  Port("mlx5_0", "InfiniBand", "4: ACTIVE");
  const auto ports = ReadAdapterPorts(root());
  ASSERT_EQ(ports.size(), 2U);
  EXPECT_EQ(ports[0],
            (discovery::AdapterPort{.device = "mlx5_0",
                                    .port = 1,
                                    .link_layer = "InfiniBand",
                                    .state = "ACTIVE",
                                    .rate = "400 Gb/sec (4X NDR)",
                                    .guid = "0002c903000a0001",
                                    .lid = 31,
                                    .subnet = "fe80000000000000",
                                    .leaf = "",
                                    .leaf_name = ""}));
  EXPECT_EQ(ports[1].state, "DOWN");
}

TEST_F(FabricReportTest, AMachineWithoutAdaptersHasNothingToReport) {
  const FabricReport found = ReadFabric({.sysfs = root()}, Machine(), nullptr);
  EXPECT_TRUE(found.report.empty());
  EXPECT_THAT(found.problems, IsEmpty());
}

TEST_F(FabricReportTest, DistancesAreThoseOfNvidiaSmi) {
  // Below one PCIe switch: a downstream port each.
  EXPECT_EQ(LevelBetween("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0",
                         "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:04:00.0"),
            "PIX");
  // Below two, one behind the other.
  EXPECT_EQ(LevelBetween("pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0",
                         "pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:04:00.0/"
                         "0000:05:00.0/0000:06:00.0"),
            "PXB");
  EXPECT_EQ(
      LevelBetween("pci0000:00/0000:00:01.0/0000:03:00.0", "pci0000:00/0000:00:02.0/0000:04:00.0"),
      "PHB");
  EXPECT_EQ(LevelBetween("pci0000:00/0000:00:01.0", "pci0000:80/0000:80:01.0"), "NODE");
  EXPECT_EQ(LevelBetween("pci0000:00/0000:00:01.0", "pci0000:80/0000:80:01.0", "1"), "SYS");
}

TEST_F(FabricReportTest, NeighboursAreThoseOfTheCommand) {
  FabricOptions options{.sysfs = root()};
  options.lldp_command = {
      "echo",
      R"({"lldp":[{"interface":[{"name":"eth0","chassis":[{"id":[{"type":"mac","value":"m1"}],)"
      R"("name":[{"value":"leaf01"}]}],"port":[]}]}]})"};
  const FabricReport found = ReadFabric(options, Machine(), nullptr);
  EXPECT_THAT(found.problems, IsEmpty());
  ASSERT_EQ(found.report.neighbours.size(), 1U);
  EXPECT_EQ(found.report.neighbours[0].name, "leaf01");
}

TEST_F(FabricReportTest, ACommandThatFailsIsALineThatNamesIt) {
  const auto problems = [&](std::vector<std::string> command) {
    FabricOptions options{.sysfs = root()};
    options.lldp_command = std::move(command);
    return ReadFabric(options, Machine(), nullptr).problems;
  };
  EXPECT_THAT(problems({"/no/such/lldpctl"}), ElementsAre(HasSubstr("/no/such/lldpctl")));
  EXPECT_THAT(problems({"echo", "hello"}), ElementsAre(HasSubstr("echo: ")));
  EXPECT_THAT(problems({"sh", "-c", "echo lldpd is not running >&2; exit 1"}),
              ElementsAre("sh: lldpd is not running"));
}

}  // namespace
}  // namespace strata::agent
