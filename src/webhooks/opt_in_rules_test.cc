#include "webhooks/opt_in_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "webhooks/test_reviews.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kConf = R"(
resourceGroups:
- resourceGroup: management
  object: {key: namespace, value: [mng-ns-1]}
  schedulerName: default-scheduler
  tolerations: [{effect: NoSchedule, key: taint, operator: Exists}]
  labels: {volcano.sh/nodetype: management}
- resourceGroup: cpu
  object: {key: annotation, value: ["volcano.sh/kind: cpu"]}
  labels: {volcano.sh/nodetype: cpu}
  affinity: '{"podAffinity": {}}'
- resourceGroup: gpu
  schedulerName: volcano
)";

json WithGroup(const std::string& ns, json pod) {
  ApplyResourceGroup(ParseAdmissionConf(kConf).value(), ns, pod);
  return pod;
}

TEST(ApplyResourceGroup, ByNamespaceByAnnotationOrByTheNameOfTheGroup) {
  const json pod = J("{'spec': {'nodeSelector': {'a': 'b'}, 'tolerations': [{'key': 'own'}]}}");
  const json managed = WithGroup("mng-ns-1", pod);
  EXPECT_EQ(managed["spec"],
            J("{'nodeSelector': {'a': 'b', 'volcano.sh/nodetype': 'management'}, 'tolerations': "
              "[{'key': 'own'}, {'effect': 'NoSchedule', 'key': 'taint', 'operator': 'Exists'}], "
              "'schedulerName': 'default-scheduler'}"));
  EXPECT_EQ(WithGroup("mng-ns-1", managed), managed);
  EXPECT_EQ(WithGroup("elsewhere", pod), pod);

  json annotated = J("{'metadata': {'annotations': {'volcano.sh/kind': 'cpu'}}}");
  EXPECT_EQ(WithGroup("x", annotated)["spec"],
            J("{'nodeSelector': {'volcano.sh/nodetype': 'cpu'}, 'affinity': {'podAffinity': {}}}"));
  annotated["spec"]["affinity"]["nodeAffinity"] = J("{'x': 1}");
  EXPECT_EQ(WithGroup("x", annotated)["spec"]["affinity"], J("{'nodeAffinity': {'x': 1}}"));

  const json named = J("{'metadata': {'annotations': {'volcano.sh/resource-group': 'gpu'}}}");
  EXPECT_EQ(WithGroup("x", named)["spec"], J("{'schedulerName': 'volcano'}"));
}

TEST(ParseAdmissionConf, NamesTheFieldThatIsWrong) {
  const auto error = [](const std::string& group) {
    return ParseAdmissionConf("resourceGroups: [" + group + "]").error().message;
  };
  EXPECT_EQ(error("7"), "resourceGroups[0]: want an object");
  EXPECT_EQ(error("{}"), "resourceGroups[0].resourceGroup: want a name");
  EXPECT_EQ(error("{resourceGroup: a, object: {key: node}}"),
            "resourceGroups[0].object.key: want namespace or annotation");
  EXPECT_EQ(error("{resourceGroup: a, object: {key: annotation, value: [x]}}"),
            "resourceGroups[0].object.value: want \"key: value\"");
  EXPECT_EQ(error("{resourceGroup: a, labels: {a: 1}}"), "resourceGroups[0].labels: want strings");
  EXPECT_EQ(error("{resourceGroup: a, affinity: '['}"),
            "resourceGroups[0].affinity: want JSON of an affinity");
  EXPECT_TRUE(ParseAdmissionConf("# nothing\n").value().groups.empty());
  EXPECT_FALSE(ParseAdmissionConf("a: [\n"));
}

TEST(SetQueueOfNamespace, OnlyForTheDefaultQueueOfANamespaceThatNamesOne) {
  SeenCluster cluster;
  cluster.Show(SeenCluster::kNamespaceSource,
               J("{'metadata': {'name': 'team-a', 'annotations': "
                 "{'scheduling.volcano.sh/queue-name': 'qa'}}}"));
  cluster.Show(SeenCluster::kNamespaceSource, J("{'metadata': {'name': 'plain'}}"));
  const auto queue_of = [&](const std::string& ns, const std::string& spec) {
    json group = J("{'spec': {" + spec + "}}");
    SetQueueOfNamespace(cluster.view(), ns, group);
    return group["spec"].value("queue", "");
  };
  EXPECT_EQ(queue_of("team-a", "'queue': 'default'"), "qa");
  EXPECT_EQ(queue_of("team-a", ""), "qa");
  EXPECT_EQ(queue_of("team-a", "'queue': 'own'"), "own");
  EXPECT_EQ(queue_of("plain", "'queue': 'default'"), "default");
  EXPECT_EQ(queue_of("missing", "'queue': 'default'"), "default");
}

TEST(BudgetRefusal, OneBudgetThatIsANumberOrAPercentage) {
  const std::vector<std::string> ours = {"volcano"};
  const auto refusal = [&](const std::string& annotations) {
    return BudgetRefusal(J("{'metadata': {'annotations': {" + annotations +
                           "}}, 'spec': {'schedulerName': 'volcano'}}"),
                         ours)
        .value_or("allowed");
  };
  EXPECT_EQ(refusal(""), "allowed");
  EXPECT_EQ(refusal("'volcano.sh/jdb-min-available': '3'"), "allowed");
  EXPECT_EQ(refusal("'volcano.sh/jdb-max-unavailable': '99%'"), "allowed");
  for (const std::string wrong : {"0", "-1", "0%", "100%", "x", "", "3%%"}) {
    EXPECT_THAT(refusal("'volcano.sh/jdb-min-available': '" + wrong + "'"),
                HasSubstr("for volcano.sh/jdb-min-available, it must be"))
        << wrong;
  }
  EXPECT_THAT(refusal("'volcano.sh/jdb-min-available': '1', 'volcano.sh/jdb-max-unavailable': '1'"),
              HasSubstr("not allow configure multiple annotations"));
  EXPECT_FALSE(BudgetRefusal(J("{'metadata': {'annotations': {'volcano.sh/jdb-min-available': "
                               "'0'}}, 'spec': {'schedulerName': 'other'}}"),
                             ours));
}

}  // namespace
}  // namespace strata::webhooks
