#include "discovery/discover.h"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "discovery/render.h"
#include "discovery/secrets.h"
#include "discovery/test_reader.h"
#include "objects/load.h"

namespace strata::discovery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

struct World {
  std::string conf;
  std::map<std::string, std::string> texts;
  std::string nodes;     // manifests, "" for none
  std::string previous;  // manifests, "" for none
  Shrink shrink = Shrink::kRefuse;
};

objects::ObjectSet Load(const std::string& text) {
  if (text.empty()) return {};
  const objects::Source source{.name = "in.yaml", .text = text};
  Result<objects::ObjectSet> set = objects::ParseObjects(std::span(&source, 1));
  EXPECT_TRUE(set.has_value()) << set.error().message;
  return set ? std::move(*set) : objects::ObjectSet{};
}

Discovery Pass(const World& world) {
  Result<DiscoveryConf> conf =
      ParseDiscoveryConf({.name = "c.conf", .text = "networkTopologyDiscovery:\n" + world.conf});
  EXPECT_TRUE(conf.has_value()) << conf.error().message;
  DiscoverInput input;
  input.sources = std::move(conf->sources);
  objects::ObjectSet cluster = Load(world.nodes);
  if (!world.nodes.empty()) input.nodes = std::move(cluster.nodes);
  input.secrets = std::move(cluster.secrets);
  input.previous = Load(world.previous).hypernodes;
  input.shrink = world.shrink;
  return Discover(input,
                  [&](Duration /*timeout*/) { return std::make_unique<FakeReader>(world.texts); });
}

// "name t1: members", one line each.
std::vector<std::string> Picture(const Discovery& found) {
  std::vector<std::string> lines;
  for (const objects::HyperNode& hypernode : found.hypernodes) {
    std::string line = hypernode.meta.name + " t" + std::to_string(hypernode.spec.tier) + ":";
    for (const HyperNodeMember& member : hypernode.spec.members) {
      line += " " + std::get<HyperNodeMember::Exact>(member.selector).name;
    }
    lines.push_back(line);
  }
  return lines;
}

std::string Graph(const std::map<std::string, std::vector<std::string>>& instances) {
  std::string text = "{\"instances\":[";
  for (const auto& [node, layers] : instances) {
    text += text.ends_with("[") ? "" : ",";
    text += R"({"id":")" + node + R"(","network_layers":[)";
    for (const std::string& layer : layers) {
      text += (text.ends_with("[") ? "\"" : ",\"") + layer + "\"";
    }
    text += "]}";
  }
  return text + "]}";
}

const std::string kTopograph = "- {source: topograph, enabled: true, config: {file: graph}}\n";

TEST(Discover, NamesHyperNodesAfterTheirSwitches) {
  World world{.conf = kTopograph};
  world.texts["graph"] = Graph({{"n1", {"leaf-1", "spine"}}, {"n2", {"leaf-2", "spine"}}});
  const Discovery found = Pass(world);
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(
      Picture(found),
      ElementsAre("hn-topograph-t1-leaf-1 t1: n1",
                  "hn-topograph-t1-leaf-2 t1: n2",
                  "hn-topograph-t2-spine t2: hn-topograph-t1-leaf-1 hn-topograph-t1-leaf-2"));
}

TEST(Discover, ASourceThatFailsLeavesTheOthersAloneAndKeepsWhatItHad) {
  World world{.conf = kTopograph + "- {source: infiniband, enabled: true, config: {file: gone}}\n"};
  world.texts["graph"] = Graph({{"n1", {"leaf-1"}}});
  world.previous = R"(
{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: old, labels: {volcano.sh/network-topology-source: infiniband}},
 spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n9}}}]}}
---
{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: by-hand},
 spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n8}}}]}}
)";
  const Discovery found = Pass(world);
  EXPECT_THAT(found.errors, ElementsAre("infiniband: gone: not there"));
  EXPECT_THAT(Picture(found), ElementsAre("hn-topograph-t1-leaf-1 t1: n1", "old t1: n9"));
}

TEST(Discover, AnEntryThatCannotBeReadKeepsWhatItHad) {
  World world{.conf =
                  "- {source: topograph, name: east, enabled: \"true\", config: {file: graph}}\n"};
  world.previous = R"(
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: old, labels: {volcano.sh/network-topology-source: topograph, strata.sh/network-topology-source-name: east}}
spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n9}}}]}
)";
  const Discovery found = Pass(world);
  EXPECT_THAT(found.errors, SizeIs(1));
  EXPECT_THAT(Picture(found), ElementsAre("old t1: n9"));
}

TEST(KeepPrevious, KeepsTheHyperNodesThatASourceMadeLowTiersFirst) {
  const std::string made =
      ", labels: {volcano.sh/network-topology-source: topograph}}\nspec: {tier: ";
  const std::string head =
      "apiVersion: topology.volcano.sh/v1alpha1\nkind: HyperNode\nmetadata: {name: ";
  const std::string members =
      ", members: [{type: Node, selector: {exactMatch: {name: n9}}}]}\n---\n";
  const Discovery kept =
      KeepPrevious(Error{Code::kInvalidArgument, "c.conf: broken"},
                   Load(head + "upper" + made + "2" + members + head + "lower" + made + "1" +
                        members + head + "by-hand}\nspec: {tier: 1" + members)
                       .hypernodes);
  EXPECT_THAT(kept.errors, ElementsAre("c.conf: broken"));
  EXPECT_THAT(Picture(kept), ElementsAre("lower t1: n9", "upper t2: n9"));
  EXPECT_THAT(kept.owners, SizeIs(2));
}

// Ten nodes in two leaves, then what is left of them.
World Shrunken(int left) {
  World world{.conf = kTopograph};
  std::map<std::string, std::vector<std::string>> all;
  for (int i = 0; i < 10; ++i) {
    all["n" + std::to_string(i)] = {i < 5 ? "leaf-1" : "leaf-2", "spine"};
  }
  world.texts["graph"] = Graph(all);
  world.previous = RenderYaml(Pass(world).hypernodes);
  while (static_cast<int>(all.size()) > left) all.erase(std::prev(all.end()));
  world.texts["graph"] = Graph(all);
  return world;
}

TEST(Discover, RejectsAnAnswerThatLacksMoreThanThirtyPercent) {
  EXPECT_THAT(Pass(Shrunken(7)).errors, IsEmpty());
  World world = Shrunken(6);
  Discovery found = Pass(world);
  EXPECT_THAT(found.errors,
              ElementsAre("topograph: 4 of the 10 previous nodes are missing (n6, n7, n8, n9), the "
                          "answer is rejected (--accept-shrink accepts it)"));
  EXPECT_EQ(RenderYaml(found.hypernodes), world.previous);
  world.shrink = Shrink::kAcceptFewer;
  found = Pass(world);
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(Picture(found)[1], "hn-topograph-t1-leaf-2 t1: n5");
}

TEST(Discover, RejectsAnEmptyAnswer) {
  World world = Shrunken(0);
  EXPECT_THAT(Pass(world).errors,
              ElementsAre("topograph: the answer has no node of the cluster and is rejected "
                          "(--accept-shrink accepts it)"));
  EXPECT_EQ(RenderYaml(Pass(world).hypernodes), world.previous);
  world.shrink = Shrink::kAcceptFewer;
  EXPECT_THAT(Pass(world).errors, SizeIs(1));
  world.previous.clear();
  EXPECT_THAT(Pass(world).errors, SizeIs(1));
}

TEST(Discover, ANameStaysWhenWhatItIsNamedAfterGoes) {
  World world = Shrunken(10);
  std::map<std::string, std::vector<std::string>> renamed;
  for (int i = 0; i < 10; ++i) {
    renamed["n" + std::to_string(i)] = {i < 5 ? "leaf-9" : "leaf-2", "spine-new"};
  }
  world.texts["graph"] = Graph(renamed);
  EXPECT_EQ(RenderYaml(Pass(world).hypernodes), world.previous);
}

TEST(Discover, DoesNotUseANameOfAnotherOwner) {
  World world{.conf = kTopograph};
  world.texts["graph"] = Graph({{"n1", {"leaf-1"}}});
  world.previous = R"(
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: hn-topograph-t1-leaf-1}
spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n1}}}]}
)";
  EXPECT_THAT(Picture(Pass(world))[0], StartsWith("hn-topograph-t1-leaf-1-"));
}

TEST(Discover, TwoEntriesKeepApartByName) {
  World world{.conf =
                  "- {source: topograph, name: east, enabled: true, config: {file: graph}}\n"
                  "- {source: topograph, name: west, enabled: true, config: {file: graph2}}\n"};
  world.texts["graph"] = Graph({{"n1", {"leaf"}}});
  world.texts["graph2"] = Graph({{"n2", {"leaf"}}});
  const Discovery found = Pass(world);
  EXPECT_THAT(Picture(found),
              ElementsAre("hn-topograph-east-t1-leaf t1: n1", "hn-topograph-west-t1-leaf t1: n2"));
  EXPECT_EQ(OwnerOf(found.hypernodes[1]).name, "west");
}

std::string NodesWithCliques(const std::map<std::string, std::string>& clique_of) {
  std::string text;
  for (const auto& [node, clique] : clique_of) {
    text += "---\n{apiVersion: v1, kind: Node, metadata: {name: " + node +
            ", labels: {nvidia.com/gpu.clique: \"" + clique + "\"}}}\n";
  }
  return text;
}

World WithCliques() {
  World world{.conf = kTopograph + "- {source: nvlink, enabled: true}\n"};
  world.nodes = NodesWithCliques({{"n1", "u.1"}, {"n2", "u.1"}, {"n3", "u.2"}, {"n4", ""}});
  world.texts["graph"] = Graph({{"n1", {"leaf-1", "spine"}},
                                {"n2", {"leaf-1", "spine"}},
                                {"n3", {"leaf-2", "spine"}},
                                {"n4", {"leaf-2", "spine"}}});
  return world;
}

TEST(Discover, CliquesBecomeTheLowestTierOfATreeThatHoldsThemWhole) {
  const Discovery found = Pass(WithCliques());
  EXPECT_THAT(found.errors, IsEmpty());
  const std::vector<std::string> lines = Picture(found);
  ASSERT_THAT(lines, SizeIs(5));
  EXPECT_THAT(lines[0],
              ::testing::MatchesRegex("hn-nvlink-topograph-t1-u-1-[0-9a-f]{8} t1: n1 n2"));
  EXPECT_THAT(lines[3], ::testing::MatchesRegex("hn-topograph-t1-leaf-2 t2: hn-nvlink-[^ ]* n4"));
  EXPECT_THAT(lines[4], StartsWith("hn-topograph-t2-spine t3: "));
}

TEST(Discover, JoinedTreesAreTakenApartAgainWhenTheyArePrevious) {
  World world = WithCliques();
  const std::string printed = RenderYaml(Pass(world).hypernodes);
  world.previous = printed;
  EXPECT_EQ(RenderYaml(Pass(world).hypernodes), printed);
  // Each of the two held, the other asked.
  world.texts.clear();
  EXPECT_EQ(RenderYaml(Pass(world).hypernodes), printed);
  EXPECT_THAT(Pass(world).errors, SizeIs(1));
  world = WithCliques();
  world.previous = printed;
  world.nodes = NodesWithCliques({{"n1", ""}, {"n2", ""}, {"n3", ""}, {"n4", ""}});
  EXPECT_EQ(RenderYaml(Pass(world).hypernodes), printed);
}

TEST(Discover, CliquesThatCrossLeavesAreATreeOfTheirOwnWithANote) {
  World world = WithCliques();
  world.nodes = NodesWithCliques({{"n1", "u.1"}, {"n2", "u.2"}, {"n3", "u.1"}, {"n4", "v.1"}});
  const Discovery found = Pass(world);
  EXPECT_THAT(
      found.warnings,
      ElementsAre(
          "nvlink: the tree of topograph is not extended by cliques: clique u.1 is not whole in "
          "one leaf"));
  std::vector<std::string> tiers;
  for (const objects::HyperNode& hypernode : found.hypernodes) {
    tiers.push_back(std::to_string(hypernode.spec.tier) + hypernode.spec.tier_name);
  }
  EXPECT_THAT(tiers,
              ElementsAre("1clique",
                          "1clique",
                          "1clique",
                          "1leaf",
                          "1leaf",
                          "2nvlink-domain",
                          "2nvlink-domain",
                          "2spine"));
}

const std::string kExec = "- {source: exec, enabled: true, config: {command: [mine]}}\n";

TEST(Discover, AProgramMayPrintGraphsOrManifests) {
  World world{.conf = kExec};
  world.texts["mine"] = Graph({{"n1", {"leaf-1"}}});
  EXPECT_THAT(Picture(Pass(world)), ElementsAre("hn-exec-t1-leaf-1 t1: n1"));
  world.texts["mine"] = R"(
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: rack}
spec: {tier: 1, members: [{type: Node, selector: {exactMatch: {name: n1}}}, {type: Node, selector: {exactMatch: {name: nx}}}]}
)";
  world.nodes = "{apiVersion: v1, kind: Node, metadata: {name: n1}}";
  const Discovery found = Pass(world);
  EXPECT_THAT(Picture(found), ElementsAre("rack t1: n1"));
  EXPECT_EQ(OwnerOf(found.hypernodes[0]).source, "exec");
  EXPECT_THAT(found.warnings,
              ElementsAre("exec: left out 1 members that are not nodes of the cluster"));
}

TEST(Discover, AProgramsManifestsMustBeAForest) {
  World world{.conf = kExec};
  const auto manifest = [](const std::string& name, int tier, const std::string& child) {
    return "---\n{apiVersion: topology.volcano.sh/v1alpha1, kind: HyperNode, metadata: {name: " +
           name + "}, spec: {tier: " + std::to_string(tier) +
           ", members: [{type: HyperNode, selector: {exactMatch: {name: " + child + "}}}]}}\n";
  };
  world.texts["mine"] = manifest("a", 2, "b");
  EXPECT_THAT(Pass(world).errors,
              ElementsAre("exec: mine: HyperNode a: member b is not among the HyperNodes"));
  world.texts["mine"] = manifest("a", 2, "b") + manifest("b", 2, "a");
  EXPECT_THAT(Pass(world).errors,
              ElementsAre("exec: mine: HyperNode a: member b has a tier that is not below"));
  world.texts["mine"] = manifest("a", 3, "c") + manifest("b", 3, "c") + manifest("c", 2, "d");
  EXPECT_THAT(Pass(world).errors,
              ElementsAre("exec: mine: HyperNode b: member c is already a member of a"));
  world.texts["mine"] = "hello";
  EXPECT_THAT(Pass(world).errors, ElementsAre(HasSubstr("exec: mine: output: ")));
}

TEST(Discover, ReportsHostsThatClaimOneLldpChassis) {
  const auto neighbour = [](const std::string& port, const char* chassis, const char* name) {
    return R"({"name":")" + port + R"(","chassis":[{"id":[{"value":")" + chassis +
           R"("}],"name":[{"value":")" + name +
           R"("}],"capability":[{"type":"Station","enabled":true}]}]})";
  };
  const World world{
      .conf = "- {source: roce, enabled: true, config: {lldpDir: lldp}}\n",
      .texts = {{"lldp/leaf01.json0",
                 R"({"lldp":[{"interface":[)" + neighbour("p1", "m7", "node-01") + "," +
                     neighbour("p2", "m8", "node-02") + "]}]}"},
                {"lldp/leaf02.json0",
                 R"({"lldp":[{"interface":[)" + neighbour("p1", "m7", "node-03") + "]}]}"}},
      .nodes = "",
      .previous = ""};
  EXPECT_THAT(Pass(world).warnings,
              ElementsAre("roce: left out 2 machines that claim one LLDP chassis, m7: node-01, "
                          "node-03"));
}

TEST(Discover, AnEmptyLabelConfigIsAWarning) {
  World world{.conf = "- {source: label, enabled: true, config: {}}\n"};
  world.nodes = "{apiVersion: v1, kind: Node, metadata: {name: n1}}";
  const Discovery found = Pass(world);
  EXPECT_THAT(found.errors, IsEmpty());
  EXPECT_THAT(found.warnings, ElementsAre(HasSubstr("label has an empty config")));
}

TEST(Discover, LabelsNeedNodes) {
  World world{.conf = "- {source: label, enabled: true, config: {preset: aws}}\n"};
  EXPECT_THAT(Pass(world).errors, ElementsAre("label: reads labels of nodes (give --nodes)"));
}

const std::string kUfm =
    "- {source: ufm, enabled: true, credentials: {secretRef: {name: s, namespace: ns}}, config: "
    "{endpoint: ufm}}\n";

TEST(Discover, PagesOfUfmAreReadWhole) {
  World world{.conf = kUfm};
  world.nodes =
      "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, data: {token: "
      "dG9r}}\n---\n"
      "{apiVersion: v1, kind: Node, metadata: {name: n1}}\n---\n"
      "{apiVersion: v1, kind: Node, metadata: {name: n2}}\n";
  const auto page = [](const std::string& node) {
    return R"({"num_of_pages":2,"filtered_resources":2,"data":[{"description":"Computer","system_name":")" +
           node + R"(","peer_node_name":"leaf"}]})";
  };
  const std::string url = "https://ufm/ufmRestV3/resources/ports";
  world.texts[url] = page("n1");
  world.texts[url + "?page_number=2&rpp=1"] = page("n2");
  EXPECT_THAT(Picture(Pass(world)), ElementsAre("hn-ufm-t1-leaf t1: n1 n2"));
  world.texts[url + "?page_number=2&rpp=1"] = R"({"num_of_pages":2,"data":[]})";
  EXPECT_THAT(Pass(world).errors,
              ElementsAre("ufm: " + url + ": the answer is partial: 1 of 2 ports"));
}

TEST(Discover, ASecretIsNamedAndNeverShown) {
  World world{.conf = kUfm};
  world.nodes = "{apiVersion: v1, kind: Node, metadata: {name: n1}}";
  EXPECT_THAT(Pass(world).errors,
              ElementsAre("ufm: Secret ns/s is not there (give its manifest with --nodes)"));
  world.nodes =
      "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, data: {password: "
      "\"hush!\"}}";
  EXPECT_THAT(Pass(world).errors, ElementsAre("ufm: Secret ns/s: data.password: want base64"));
}

TEST(Credentials, PlainTextGoesBeforeBase64) {
  SourceConfig entry;
  entry.secret = SecretRef{.ns = "ns", .name = "s"};
  const auto set = Load(
      "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, data: {username: "
      "YWRtaW4=, "
      "password: eA==}, stringData: {password: \"p w\"}}");
  const Result<Credentials> credentials = CredentialsOf(entry, set.secrets, "");
  ASSERT_TRUE(credentials.has_value());
  EXPECT_EQ(credentials->username, "admin");
  EXPECT_EQ(credentials->password, "p w");
}

TEST(RenderDiff, ListsAddedRemovedAndChangedHyperNodes) {
  World world = Shrunken(10);
  const std::vector<objects::HyperNode> before = Load(world.previous).hypernodes;
  world = Shrunken(9);
  const Discovery found = Pass(world);
  EXPECT_EQ(RenderDiff(before, found.hypernodes, found.owners), "~ hn-topograph-t1-leaf-2: -n9\n");
  EXPECT_EQ(RenderDiff(before, before, found.owners), "no changes\n");
  EXPECT_THAT(RenderDiff({}, before, found.owners),
              StartsWith("+ hn-topograph-t1-leaf-1 (tier 1, leaf): n0 n1 n2 n3 n4\n+ "));
  EXPECT_THAT(RenderDiff(before, {}, found.owners), StartsWith("- hn-topograph-t1-leaf-1 (tier 1"));
  EXPECT_EQ(RenderDiff(before, {}, {}), "no changes\n");
}

TEST(Render, ManifestsAreReadBackAsTheyAre) {
  const std::vector<objects::HyperNode> hypernodes = Load(R"(
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: a, labels: {x: "yes", y: "1"}}
spec:
  tier: 0
  tierName: "true"
  members:
  - {type: Node, selector: {exactMatch: {name: "12"}}}
  - {type: Node, selector: {regexMatch: {pattern: "^n[0-9]: \"x\"$"}}}
  - {type: Node, selector: {labelMatch: {matchLabels: {rack: "1"}, matchExpressions: [{key: z, operator: Exists}]}}}
)")
                                                         .hypernodes;
  for (const std::string& text : {RenderYaml(hypernodes), RenderJson(hypernodes)}) {
    const std::vector<objects::HyperNode> again = Load(text).hypernodes;
    ASSERT_THAT(again, SizeIs(1));
    EXPECT_EQ(again[0].spec, hypernodes[0].spec) << text;
    EXPECT_EQ(again[0].meta.labels, hypernodes[0].meta.labels) << text;
  }
}

}  // namespace
}  // namespace strata::discovery
