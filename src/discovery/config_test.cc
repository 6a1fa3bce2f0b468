#include "discovery/config.h"

#include <chrono>
#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::discovery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

DiscoveryConf MustParse(const std::string& text) {
  Result<DiscoveryConf> conf = ParseDiscoveryConf({.name = "c.conf", .text = text});
  EXPECT_TRUE(conf.has_value()) << conf.error().message;
  return conf ? std::move(*conf) : DiscoveryConf{};
}

// The error of the only entry.
std::string EntryError(const std::string& entry) {
  const DiscoveryConf conf = MustParse("networkTopologyDiscovery:\n- " + entry + "\n");
  return conf.sources.size() == 1 ? conf.sources.front().error : "not one entry";
}

TEST(DiscoveryConf, ReadsTheFileOfTheGuide) {
  const DiscoveryConf conf = MustParse(R"(
networkTopologyDiscovery:
  - source: ufm
    enabled: true
    interval: 10m
    credentials: {secretRef: {name: ufm-credentials, namespace: volcano-system}}
    config: {endpoint: "https://ufm-server:8080/", insecureSkipVerify: true}
  - {source: roce, enabled: false, interval: 15m, config: {endpoint: "https://roce-server:9090"}}
  - source: label
    enabled: true
    config:
      networkTopologyTypes:
        topologyA3: [{nodeLabel: volcano.sh/hypercluster}, {nodeLabel: volcano.sh/hypernode}, {nodeLabel: kubernetes.io/hostname}]
        topologyA2: [{nodeLabel: volcano.sh/tor}]
)");
  EXPECT_THAT(conf.warnings, IsEmpty());
  ASSERT_THAT(conf.sources, SizeIs(3));
  EXPECT_EQ(conf.sources[0].interval, std::chrono::minutes(10));
  EXPECT_EQ(conf.sources[0].secret->name, "ufm-credentials");
  EXPECT_EQ(std::get<UfmConfig>(conf.sources[0].config).server.endpoint, "https://ufm-server:8080");
  EXPECT_FALSE(conf.sources[1].enabled);
  EXPECT_EQ(conf.sources[2].interval, std::chrono::hours(1));
  const auto& label = std::get<LabelConfig>(conf.sources[2].config);
  ASSERT_THAT(label.types, SizeIs(2));
  EXPECT_THAT(label.types[0].keys, ElementsAre("volcano.sh/tor"));
  EXPECT_THAT(label.types[1].keys, ElementsAre("volcano.sh/hypercluster", "volcano.sh/hypernode"));
}

TEST(DiscoveryConf, IsReadFromItsConfigMapToo) {
  const DiscoveryConf conf = MustParse(R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-controller-configmap}
data:
  volcano-controller.conf: |
    networkTopologyDiscovery: [{source: nvlink, enabled: true}]
)");
  ASSERT_THAT(conf.sources, SizeIs(1));
  EXPECT_EQ(std::get<NvlinkConfig>(conf.sources[0].config).label, "nvidia.com/gpu.clique");
}

TEST(DiscoveryConf, AnEmptyTextHasNoSources) {
  EXPECT_THAT(MustParse("").sources, IsEmpty());
  EXPECT_THAT(MustParse("# nothing\n").sources, IsEmpty());
  EXPECT_THAT(MustParse("networkTopologyDiscovery: []\n").sources, IsEmpty());
}

TEST(DiscoveryConf, AMistakeIsTheErrorOfItsEntryAlone) {
  const DiscoveryConf conf = MustParse(R"(
networkTopologyDiscovery:
- {source: nvlink, enabled: true}
- {source: ufm, name: east, enabled: true, config: {}}
- {source: infiniband, enabled: true}
)");
  ASSERT_THAT(conf.sources, SizeIs(3));
  EXPECT_EQ(conf.sources[0].error, "");
  EXPECT_EQ(conf.sources[1].error,
            "c.conf: networkTopologyDiscovery[1].config.endpoint: is required");
  EXPECT_EQ(conf.sources[1].Title(), "ufm/east");
  EXPECT_EQ(conf.sources[2].error, "");
}

struct Mistake {
  std::string entry;
  std::string error;
};

class Mistakes : public ::testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamed) {
  EXPECT_EQ(EntryError(GetParam().entry),
            "c.conf: networkTopologyDiscovery[0]." + GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Entries,
    Mistakes,
    ::testing::Values(
        Mistake{"{source: ufn, enabled: true}",
                "source: unknown value \"ufn\" (want exec, infiniband, label, nvlink, roce, "
                "topograph or ufm)"},
        Mistake{"{source: nvlink, enabled: \"true\"}",
                "enabled: found string \"true\", want true or false"},
        Mistake{"{source: nvlink, enabled: true, interval: soon}",
                "interval: want a duration such as 1h30m or 300ms, found \"soon\""},
        Mistake{"{source: nvlink, enabled: true, timeout: 30}",
                "timeout: found number 30, want a string (put it in quotes)"},
        Mistake{"{source: nvlink, enabled: true, timeout: soon}",
                "timeout: want a duration such as 1h30m or 300ms, found \"soon\""},
        Mistake{"{source: nvlink, enabled: true, timeout: -1s}",
                "timeout: -1s is out of range (want more than 0s, at most 30s)"},
        Mistake{"{source: nvlink, enabled: true, timeout: 31s}",
                "timeout: 31s is out of range (want more than 0s, at most 30s)"},
        Mistake{"{source: nvlink, enabled: true, name: East}",
                "name: bad name \"East\" (want lower-case letters, digits and '-', at most 40)"},
        Mistake{"{source: ufm, enabled: true, credentials: hush, config: {endpoint: u}}",
                "credentials: want the name and namespace of a Secret in credentials.secretRef"},
        Mistake{
            "{source: ufm, enabled: true, credentials: {secretRef: hush}, config: {endpoint: u}}",
            "credentials.secretRef: want the name and namespace of a Secret in "
            "credentials.secretRef"},
        Mistake{"{source: ufm, enabled: true}", "config: is required"},
        Mistake{"{source: ufm, enabled: true, config: {endpoint: \"https://me:secret@ufm\"}}",
                "config.endpoint: credentials do not belong here (want a Secret in "
                "credentials.secretRef)"},
        Mistake{"{source: ufm, enabled: true, config: {endpoint: \"ftp://ufm\"}}",
                "config.endpoint: want an address such as https://ufm.example.com"},
        Mistake{
            "{source: ufm, enabled: true, config: {endpoint: ufm, insecureSkipVerify: \"true\"}}",
            "config.insecureSkipVerify: found string \"true\", want true or false"},
        Mistake{"{source: ufm, enabled: true, config: {endpoint: \"https://ufm?token=hush\"}}",
                "config.endpoint: want an address without ? and # (such as "
                "https://ufm.example.com)"},
        Mistake{"{source: infiniband, enabled: true, config: {fille: x}}",
                "config.fille: unknown key (want file, command, from)"},
        Mistake{"{source: infiniband, enabled: true, config: {file: x, command: z}}",
                "config.command: file is also set (want one of the two)"},
        Mistake{"{source: exec, enabled: true, config: {command: []}}",
                "config.command: want a program and its arguments"},
        Mistake{"{source: roce, enabled: true, config: {}}",
                "config: want lldpDir, endpoint or from: nodes"},
        Mistake{"{source: roce, enabled: true, config: {from: hosts}}",
                "config.from: unknown value \"hosts\" (want nodes)"},
        Mistake{"{source: infiniband, enabled: true, config: {from: nodes, file: f}}",
                "config.from: file or command is also set (want one of the three)"},
        Mistake{"{source: roce, enabled: true, config: {lldpDir: d, interfaces: \"(\"}}",
                "config.interfaces: missing ): ^(?:()$ (want an RE2 regular expression)"},
        Mistake{"{source: roce, enabled: true, config: {endpoint: r, token: 12345}}",
                "config.token: want a string (put it in quotes)"},
        Mistake{"{source: topograph, enabled: true, config: {}}", "config: want file or endpoint"},
        Mistake{"{source: label, enabled: true, config: {preset: aliyun}}",
                "config.preset: unknown value \"aliyun\" (want aws, gcp, oci, azure, nebius or "
                "topograph)"},
        Mistake{
            "{source: label, enabled: true, config: {networkTopologyTypes: {a: [{nodeLabel: x}, "
            "{nodeLabel: x}]}}}",
            "config.networkTopologyTypes.a[1].nodeLabel: duplicate label x"},
        Mistake{"{source: label, enabled: true, config: {networkTopologyTypes: {a: [{nodeLabel: "
                "kubernetes.io/hostname}]}}}",
                "config.networkTopologyTypes.a: want at least one nodeLabel above the node"},
        Mistake{"{source: label, enabled: true, config: {networkTopologyTypes: "
                "{aNameOfMoreThan20Characters: [{nodeLabel: x}]}}}",
                "config.networkTopologyTypes.aNameOfMoreThan20Characters: the name is too long (20 "
                "characters at most)"}));

TEST(DiscoveryConf, APassHasHalfAMinuteUnlessTheEntrySaysLess) {
  const DiscoveryConf conf =
      MustParse("networkTopologyDiscovery: [{source: nvlink}, {source: nvlink, timeout: 1.5s}]");
  EXPECT_EQ(conf.sources[0].timeout, std::chrono::seconds(30));
  EXPECT_EQ(conf.sources[1].timeout, std::chrono::milliseconds(1500));
}

TEST(DiscoveryConf, UnknownKeysOfVolcanosFileAreWarnings) {
  const DiscoveryConf conf = MustParse(R"(
networkTopologyDiscovery:
- {source: ufm, enabled: true, note: x, config: {endpoint: ufm, timeout: 3}}
other: 1
)");
  EXPECT_THAT(
      conf.warnings,
      ElementsAre("c.conf: other: unknown key, ignored",
                  "c.conf: networkTopologyDiscovery[0].note: unknown key, ignored",
                  "c.conf: networkTopologyDiscovery[0].config.timeout: unknown key, ignored"));
  EXPECT_EQ(conf.sources[0].error, "");
}

TEST(DiscoveryConf, AMistakeInADisabledEntryIsAWarning) {
  const DiscoveryConf conf = MustParse("networkTopologyDiscovery: [{source: nosuch}]");
  EXPECT_THAT(conf.warnings, SizeIs(1));
  EXPECT_FALSE(conf.sources[0].enabled);
}

TEST(DiscoveryConf, TwoEntriesOfOneSourceNeedNames) {
  const DiscoveryConf conf = MustParse(R"(
networkTopologyDiscovery:
- {source: infiniband, enabled: true, config: {file: a}}
- {source: infiniband, enabled: true, config: {file: b}}
- {source: infiniband, enabled: true, name: c, config: {file: c}}
- {source: infiniband, config: {file: d}}
)");
  EXPECT_EQ(conf.sources[0].error, "");
  EXPECT_EQ(conf.sources[1].error,
            "c.conf: networkTopologyDiscovery[1].name: another enabled infiniband source has this "
            "name (give each its own name)");
  EXPECT_EQ(conf.sources[2].error, "");
  EXPECT_EQ(conf.sources[3].error, "");
}

TEST(DiscoveryConf, AFileThatIsNoListOfSourcesIsRefused) {
  const auto conf = ParseDiscoveryConf({.name = "c.conf", .text = "networkTopologyDiscovery: 3"});
  ASSERT_FALSE(conf.has_value());
  EXPECT_EQ(conf.error().message, "c.conf: networkTopologyDiscovery: found number 3, want a list");
}

TEST(DiscoveryConf, AnIntegerIntervalIsNanosecondsAndNothingIsAnHour) {
  EXPECT_EQ(MustParse("networkTopologyDiscovery: [{source: nvlink, interval: 2000000000}]")
                .sources[0]
                .interval,
            std::chrono::seconds(2));
  EXPECT_EQ(
      MustParse("networkTopologyDiscovery: [{source: nvlink, interval: 0}]").sources[0].interval,
      std::chrono::hours(1));
}

TEST(CheckSourceNames, AcceptsSourcesAndNamesOfEnabledEntries) {
  const DiscoveryConf conf = MustParse(
      "networkTopologyDiscovery:\n"
      "- {source: nvlink, name: east, enabled: true}\n"
      "- {source: label, enabled: false}\n");
  EXPECT_TRUE(CheckSourceNames(conf, {}));
  EXPECT_TRUE(CheckSourceNames(conf, {"nvlink", "east"}));
  const Status unknown = CheckSourceNames(conf, {"nvlink", "label"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "no enabled source \"label\" (enabled: nvlink/east)");
}

}  // namespace
}  // namespace strata::discovery
