#include "nvml/probe.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "convert/gpu_annotations.h"
#include "model/gpu_machines.h"
#include "nvml/node_annotations.h"
#include "nvml/nvml_library.h"
#include "nvml/render_probe.h"

namespace strata::nvml {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A folder like /sys for a machine, gone at the end.
class FakeSysfs {
 public:
  explicit FakeSysfs(const std::string& machine) : root_(::testing::TempDir() + "/sysfs") {
    const GpuMachine* found = FindGpuMachine(machine);
    for (std::size_t i = 0; found != nullptr && i < found->numa.size(); ++i) {
      std::array<char, 16> name{};
      std::snprintf(name.data(), name.size(), "0000:%02zx:00.0", 0x1b + i * 3);
      const std::filesystem::path folder = root_ / "bus/pci/devices" / name.data();
      std::filesystem::create_directories(folder);
      std::ofstream(folder / "numa_node") << found->numa[i] << '\n';
    }
  }
  FakeSysfs(const FakeSysfs&) = delete;
  FakeSysfs& operator=(const FakeSysfs&) = delete;
  ~FakeSysfs() { std::filesystem::remove_all(root_); }
  [[nodiscard]] std::string path() const { return root_.string(); }

 private:
  std::filesystem::path root_;
};

void Describe(const std::string& machine) {
  setenv("STRATA_FAKE_NVML", machine.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

// "dgx1v down=0/1": the machine and its faults.
ProbeReport ProbeOf(const std::string& machine) {
  Describe(machine);
  std::string error;
  const auto library = Library::Open(FAKE_NVML, error);
  EXPECT_NE(library, nullptr) << error;
  const FakeSysfs sysfs(machine.substr(0, machine.find(' ')));
  return Probe(library->api(), sysfs.path());
}

TEST(Probe, ReadsEveryMachineAsItIs) {
  for (const GpuMachine& machine : GpuMachines()) {
    const ProbeReport report = ProbeOf(machine.name);
    const std::size_t size = machine.numa.size();
    ASSERT_THAT(report.gpus, SizeIs(size)) << machine.name;
    EXPECT_THAT(report.problems, IsEmpty()) << machine.name;
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_EQ(report.gpus[i].numa, machine.numa[i]) << machine.name;
      EXPECT_EQ(report.gpus[i].memory_mib, machine.memory_mib) << machine.name;
      for (std::size_t j = 0; j < size; ++j) {
        if (i == j) continue;
        EXPECT_EQ(ToString(report.links.At(i, j)), ToString(machine.links.At(i, j)))
            << machine.name << " " << i << " " << j;
      }
    }
  }
}

TEST(Probe, WritesAnnotationsThatAreReadBackTheSame) {
  for (const GpuMachine& machine : GpuMachines()) {
    const NodeGpus node = ToNodeGpus(ProbeOf(machine.name));
    const auto read =
        ReadNodeGpus({{kRegisterKey, RegisterText(node)}, {kScoreKey, ScoreText(node)}});
    ASSERT_TRUE(read.has_value());
    EXPECT_THAT(read->warnings, IsEmpty()) << machine.name;
    EXPECT_EQ(read->node.gpus, node.gpus) << machine.name;
    for (std::size_t i = 0; i < node.gpus.size(); ++i) {
      for (std::size_t j = 0; j < node.gpus.size(); ++j) {
        EXPECT_EQ(read->node.scores.Get(i, j), machine.links.Scores().Get(i, j)) << machine.name;
      }
    }
  }
}

TEST(Probe, CountsALinkThatIsDownAsMissing) {
  const ProbeReport direct = ProbeOf("dgx1v down=0/3");
  EXPECT_EQ(ToString(direct.links.At(0, 3)), "NV1+PHB");
  EXPECT_EQ(ToString(direct.links.At(3, 0)), "NV2+PHB");
  EXPECT_THAT(direct.links.Scores().asymmetric(), ElementsAre(PairScores::Pair(0, 3)));
  EXPECT_EQ(direct.links.Scores().Get(3, 0), 130);
  EXPECT_THAT(direct.problems, ElementsAre("GPU 0: NVLinks down: 3"));
  const ProbeReport switched = ProbeOf("hgxh100 down=2/0");
  EXPECT_EQ(switched.links.Scores().Get(2, 3), 1720);
  EXPECT_EQ(switched.links.Scores().Get(3, 2), 1720);
  EXPECT_EQ(switched.links.Scores().Get(0, 1), 1820);
}

TEST(Probe, TakesTheLowerCountOfAnAsymmetricPair) {
  const ProbeReport report = ProbeOf("a100br4 fewer=1/8");
  EXPECT_EQ(report.links.At(0, 1).nvlinks, 12);
  EXPECT_EQ(report.links.At(1, 0).nvlinks, 8);
  EXPECT_EQ(report.links.Scores().Get(0, 1), 820);
}

TEST(Probe, FindsNoNvlinksWhereTheyAreNotSupported) {
  const ProbeReport report = ProbeOf("hgxh100 nolinks=1");
  EXPECT_EQ(ToString(report.links.At(0, 1)), "NODE");
  EXPECT_THAT(report.problems, IsEmpty());
}

TEST(Probe, DoesNotKnowLinksWhoseEndsAreHidden) {
  const ProbeReport report = ProbeOf("hgxh100 hidden=1");
  EXPECT_EQ(ToString(report.links.At(0, 1)), "NV?+NODE");
  EXPECT_EQ(ScoreText(ToNodeGpus(report)).find("\"GPU-fake-1\":"), std::string::npos);
}

TEST(Probe, GoesOnWithoutAGpuThatFellOffTheBus) {
  for (const char* fault : {"nohandle=5", "lost=5"}) {
    const ProbeReport report = ProbeOf(std::string("dgx1v ") + fault);
    const NodeGpus node = ToNodeGpus(report);
    ASSERT_THAT(node.gpus, SizeIs(7)) << fault;
    EXPECT_FALSE(node.Find("GPU-fake-5").has_value()) << fault;
    EXPECT_EQ(node.scores.Get(0, 1), 150) << fault;
    EXPECT_EQ(node.scores.Get(5, 6), 250) << fault;  // 6 and 7 of the machine
    EXPECT_THAT(node.scores.unknown(), IsEmpty()) << fault;
    EXPECT_THAT(report.problems, Contains(HasSubstr("GPU is lost"))) << fault;
  }
}

TEST(Probe, LosesOnlyTheFactThatCouldNotBeRead) {
  const ProbeReport links = ProbeOf("dgx1v badlink=2");
  EXPECT_FALSE(links.gpus[2].links.has_value());
  EXPECT_EQ(ToString(links.links.At(2, 3)), "NV?+PIX");
  EXPECT_EQ(ToString(links.links.At(0, 1)), "NV1+PIX");
  EXPECT_THAT(ToNodeGpus(links).gpus, SizeIs(8));

  const ProbeReport levels = ProbeOf("dgx1v noancestor=1");
  EXPECT_EQ(ToString(levels.links.At(1, 2)), "NV2+?");
  EXPECT_EQ(levels.links.Scores().unknown().size(), 7U);
  EXPECT_THAT(ProbeOf("dgx1v oddlevel=1").problems, Contains(HasSubstr("unknown value 77")));

  const NodeGpus memory = ToNodeGpus(ProbeOf("dgx1v nomemory=4"));
  EXPECT_FALSE(memory.gpus[4].healthy);
  EXPECT_TRUE(memory.gpus[3].healthy);
}

TEST(Probe, DoesNotKnowNumaNodesThatSysfsDoesNotTell) {
  Describe("dgx1v");
  std::string error;
  const auto library = Library::Open(FAKE_NVML, error);
  const ProbeReport report = Probe(library->api(), "/nowhere");
  EXPECT_FALSE(report.gpus[7].numa.has_value());
  EXPECT_EQ(ToNodeGpus(report).gpus[7].numa, 0);
  EXPECT_THAT(report.problems, SizeIs(8));
}

TEST(Probe, NamesTheCliqueOfARackAndAFabricThatIsNotReady) {
  const ProbeReport report = ProbeOf("nvl72 fabric=2/2");
  EXPECT_EQ(report.gpus[0].clique, "abababab-abab-abab-abab-abababababab.7");
  EXPECT_EQ(report.gpus[2].clique, "");
  EXPECT_THAT(report.problems, ElementsAre("GPU 2: NVLink fabric is not ready (state 2)"));
  EXPECT_EQ(ProbeOf("hgxh100").gpus[0].clique, "");
}

TEST(Probe, DropsFourZeroesOfABusIdOnce) {
  EXPECT_EQ(NormalBusId("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(NormalBusId("0000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(NormalBusId("00010000:AF:00.0"), "00010000:af:00.0");
}

TEST(NvmlLibrary, SaysInOneLineWhyItCannotBeUsed) {
  std::string error;
  EXPECT_EQ(Library::Open("/nowhere/libnvidia-ml.so", error), nullptr);
  EXPECT_THAT(error, HasSubstr("no NVIDIA driver here"));
  Describe("dgx1v init=9");
  EXPECT_EQ(Library::Open(FAKE_NVML, error), nullptr);
  EXPECT_EQ(error, "NVML does not start: Driver Not Loaded");
  EXPECT_EQ(Library::Open("libm.so.6", error), nullptr);
  EXPECT_THAT(error, HasSubstr("is not NVML"));
}

struct Output {
  std::string text;
  int status = 0;
};

Output RunAgent(const std::string& arguments) {
  Output output;
  FILE* pipe = popen((STRATA_AGENT " " + arguments + " 2>&1").c_str(), "r");
  std::array<char, 4096> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) output.text += part.data();
  output.status = WEXITSTATUS(pclose(pipe));
  return output;
}

TEST(Agent, PrintsTheMachineAsTableAndJson) {
  Describe("dgx1v");
  const std::string fake = std::string("probe --nvml ") + FAKE_NVML;
  const Output table = RunAgent(fake);
  EXPECT_EQ(table.status, 0);
  EXPECT_THAT(table.text,
              AllOf(HasSubstr("driver 999.1, 8 GPUs"),
                    HasSubstr("NV2+PHB"),
                    HasSubstr("hami.io/node-nvidia-score: [{\"uuid\":\"GPU-fake-0\"")));
  const Output json = RunAgent(fake + " -o json");
  EXPECT_EQ(json.status, 0);
  EXPECT_THAT(json.text,
              AllOf(HasSubstr("\"scores\": ["), HasSubstr("\"busId\": \"0000:1b:00.0\"")));
}

TEST(Agent, EndsWithOneLineAndStatusOneWithoutADriver) {
  const Output output = RunAgent("probe --nvml /nowhere.so");
  EXPECT_EQ(output.status, 1);
  EXPECT_EQ(std::count(output.text.begin(), output.text.end(), '\n'), 1);
}

TEST(Agent, EndsWithStatusTwoWhenTheCommandLineMakesNoSense) {
  for (const char* arguments : {"", "prob", "probe -o xml", "probe --fast yes", "probe --nvml"}) {
    EXPECT_EQ(RunAgent(arguments).status, 2) << arguments;
  }
}

TEST(Agent, ShowsItsUsageWhereverHelpIsAsked) {
  const std::pair<const char*, const char*> cases[] = {
      {"--help", "Usage: strata-agent"},
      {"-h", "Usage: strata-agent"},
      {"run --help", "strata-agent run --node-name"},
      {"withdraw -h", "strata-agent withdraw --node-name"},
      {"probe --help", "usage: strata-agent probe"},
      {"probe -o json -h", "usage: strata-agent probe"}};
  for (const auto& [arguments, usage] : cases) {
    const Output output = RunAgent(arguments);
    EXPECT_EQ(output.status, 0) << arguments;
    EXPECT_THAT(output.text, HasSubstr(usage)) << arguments;
  }
}

}  // namespace
}  // namespace strata::nvml
