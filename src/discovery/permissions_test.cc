#include "discovery/permissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::discovery {
namespace {

using ::testing::HasSubstr;

Permissions Allow(const std::vector<std::string>& paths) {
  Result<Permissions> permissions = Permissions::Only(paths, "volcano-system");
  EXPECT_TRUE(permissions) << permissions.error().message;
  return *permissions;
}

template <typename Config>
SourceConfig Entry(Config config) {
  SourceConfig entry;
  entry.where = "networkTopologyDiscovery[0]";
  entry.config = std::move(config);
  return entry;
}

std::string Refused(const Permissions& permissions, const SourceConfig& entry) {
  const Status allowed = permissions.CheckEntry(entry);
  return allowed ? "" : allowed.error().message;
}

TEST(Permissions, NoProgramIsAllowedUnlessItIsListed) {
  const SourceConfig entry = Entry(ExecConfig{.command = {"/bin/sh", "-c", "id"}});
  EXPECT_EQ(Refused(Allow({}), entry),
            "networkTopologyDiscovery[0].config.command: program \"/bin/sh\" is not allowed "
            "(--discovery-allow lists the allowed programs: none)");
  EXPECT_THAT(Refused(Allow({"/opt/site/topology"}), entry), HasSubstr(": /opt/site/topology)"));
  EXPECT_EQ(Refused(Allow({"/opt/x", "/bin/sh"}), entry), "");
  EXPECT_EQ(Refused(Permissions::Everything(), entry), "");
}

TEST(Permissions, TheDefaultCommandOfInfinibandIsAProgramLikeAnyOther) {
  const SourceConfig entry = Entry(InfinibandConfig{.file = "", .command = {"ibnetdiscover"}});
  EXPECT_THAT(Refused(Allow({}), entry), HasSubstr("\"ibnetdiscover\" is not allowed"));
  EXPECT_EQ(Refused(Allow({"/usr/sbin/ibnetdiscover"}), entry), "");
}

TEST(Permissions, ANameIsTheAllowedProgramWhateverPathSays) {
  EXPECT_EQ(Allow({"/usr/sbin/ibnetdiscover"}).ProgramPath("ibnetdiscover").value(),
            "/usr/sbin/ibnetdiscover");
  for (const char* name :
       {"discover", "./ibnetdiscover", "/tmp/ibnetdiscover", "", "sbin/ibnetdiscover"}) {
    EXPECT_FALSE(Allow({"/usr/sbin/ibnetdiscover"}).ProgramPath(name)) << name;
  }
  EXPECT_FALSE(Allow({"/usr/sbin/"}).ProgramPath("/usr/sbin/ibnetdiscover"))
      << "a folder holds files to read";
}

TEST(Permissions, FilesAreReadOnlyFromListedFolders) {
  const Permissions permissions = Allow({"/var/lib/lldp/"});
  EXPECT_EQ(Refused(permissions, Entry(RoceConfig{.lldp_dir = "/var/lib/lldp"})), "");
  EXPECT_EQ(Refused(permissions, Entry(InfinibandConfig{.file = "/var/lib/lldp/ib.txt"})), "");
  EXPECT_EQ(Refused(permissions, Entry(TopographConfig{.file = "/etc/shadow"})),
            "networkTopologyDiscovery[0].config.file: \"/etc/shadow\" is not in an allowed folder "
            "(--discovery-allow lists them: /var/lib/lldp/)");
  for (const char* path :
       {"/var/lib/lldp/../../../etc/shadow", "/var/lib/lldpx/a", "var/lib/lldp/a", "/"}) {
    EXPECT_NE(Refused(permissions, Entry(RoceConfig{.lldp_dir = path})), "") << path;
  }
  EXPECT_THAT(Refused(permissions, Entry(UfmConfig{{"https://ufm", false, "/root/ca.pem"}})),
              HasSubstr("config.caFile: \"/root/ca.pem\""));
}

TEST(Permissions, SecretsAreOfTheConfigurationsOwnNamespace) {
  SourceConfig entry = Entry(UfmConfig{{"https://ufm", false, ""}});
  entry.secret = SecretRef{.ns = "kube-system", .name = "admin"};
  EXPECT_EQ(Refused(Allow({}), entry),
            "networkTopologyDiscovery[0].credentials.secretRef.namespace: \"kube-system\" is not "
            "allowed (want a Secret of namespace volcano-system, in which the configuration is)");
  entry.secret->ns = "volcano-system";
  EXPECT_EQ(Refused(Allow({}), entry), "");
}

TEST(Permissions, SourcesThatUseNothingOfTheMachineNeedNone) {
  EXPECT_EQ(Refused(Allow({}), Entry(LabelConfig{})), "");
  EXPECT_EQ(Refused(Allow({}), Entry(NvlinkConfig{})), "");
  EXPECT_EQ(Refused(Allow({}), Entry(InfinibandConfig{.from_nodes = true})), "");
}

TEST(Permissions, RejectsRelativePaths) {
  for (const char* path : {"sh", "bin/", "", "/opt/../bin/sh", "/opt/./x"}) {
    const Result<Permissions> permissions = Permissions::Only({path}, "ns");
    ASSERT_FALSE(permissions) << path;
    EXPECT_THAT(permissions.error().message, HasSubstr("want the absolute path of a program"));
  }
}

}  // namespace
}  // namespace strata::discovery
