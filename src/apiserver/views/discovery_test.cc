#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/test_rows.h"
#include "apiserver/views/views.h"

namespace strata::apiserver {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

Resource Custom(std::string group, std::string version, std::string kind, std::string plural) {
  Resource row = TestRow(std::move(group), std::move(kind), std::move(plural));
  row.version = std::move(version);
  row.singular = "job";
  row.custom = true;
  row.has_status = true;
  row.short_names = {"vcjob", "vj"};
  row.categories = {"all"};
  return row;
}

// The entry of a list whose `key` is `value`; null when there is none.
json Entry(const json& list, const std::string& key, const std::string& value) {
  for (const json& item : list) {
    if (item.value(key, "") == value) return item;
  }
  return nullptr;
}

class DiscoveryTest : public ::testing::Test {
 protected:
  DiscoveryTest() {
    table.Put(Custom("batch.volcano.sh", "v1alpha1", "Job", "jobs"));
    table.Put(Custom("example.com", "v1alpha1", "Widget", "widgets"));
    table.Put(Custom("example.com", "v1", "Widget", "widgets"));
    table.Put(Custom("example.com", "v10beta2", "Widget", "widgets"));
    table.Put(Custom("example.com", "v2beta1", "Widget", "widgets"));
  }
  ResourceTable table;
};

TEST_F(DiscoveryTest, CoreVersions) {
  EXPECT_EQ(apiserver::CoreVersions("127.0.0.1:1"),
            J("{'kind': 'APIVersions', 'versions': ['v1'], 'serverAddressByClientCIDRs':"
              " [{'clientCIDR': '0.0.0.0/0', 'serverAddress': '127.0.0.1:1'}]}"));
}

TEST_F(DiscoveryTest, GroupsOnceEachBuiltInFirstBestVersionPreferred) {
  const json list = GroupList(table);
  EXPECT_EQ(list["kind"], "APIGroupList");
  std::vector<std::string> names;
  for (const json& group : list["groups"]) names.push_back(group["name"]);
  ASSERT_GE(names.size(), 2U);
  EXPECT_THAT(std::vector(names.end() - 2, names.end()),
              ElementsAre("batch.volcano.sh", "example.com"));
  EXPECT_EQ(list["groups"].back(),
            J("{'name': 'example.com', 'versions': ["
              "{'groupVersion': 'example.com/v1', 'version': 'v1'},"
              "{'groupVersion': 'example.com/v10beta2', 'version': 'v10beta2'},"
              "{'groupVersion': 'example.com/v2beta1', 'version': 'v2beta1'},"
              "{'groupVersion': 'example.com/v1alpha1', 'version': 'v1alpha1'}],"
              "'preferredVersion': {'groupVersion': 'example.com/v1', 'version': 'v1'}}"));
  EXPECT_EQ(GroupInfo(table, "example.com")["kind"], "APIGroup");
  EXPECT_EQ(GroupInfo(table, "nope.com"), nullptr);
}

TEST_F(DiscoveryTest, ResourcesWithTheirSubresources) {
  const json list = ResourceList(table, "batch.volcano.sh", "v1alpha1");
  EXPECT_EQ(list["groupVersion"], "batch.volcano.sh/v1alpha1");
  EXPECT_EQ(list["resources"],
            J("[{'name': 'jobs', 'singularName': 'job', 'namespaced': true, 'kind': 'Job',"
              " 'verbs': ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update',"
              " 'watch'], 'shortNames': ['vcjob', 'vj'], 'categories': ['all']},"
              "{'name': 'jobs/status', 'singularName': '', 'namespaced': true, 'kind': 'Job',"
              " 'verbs': ['get', 'patch', 'update']}]"));
  EXPECT_EQ(ResourceList(table, "batch.volcano.sh", "v9"), nullptr);
}

TEST_F(DiscoveryTest, EvictionBelongsToGroupPolicy) {
  const json core = ResourceList(table, "", "v1");
  EXPECT_EQ(core["groupVersion"], "v1");
  EXPECT_EQ(Entry(core["resources"], "name", "pods/eviction"),
            J("{'name': 'pods/eviction', 'singularName': '', 'namespaced': true, 'group': 'policy',"
              " 'version': 'v1', 'kind': 'Eviction', 'verbs': ['create']}"));
  EXPECT_EQ(Entry(core["resources"], "name", "pods/binding")["kind"], "Binding");
  EXPECT_EQ(Entry(core["resources"], "name", "pods/log")["verbs"], J("['get']"));
  EXPECT_EQ(Entry(core["resources"], "name", "pods")["shortNames"], J("['po']"));
}

TEST_F(DiscoveryTest, ReadOnlyKindsHaveVerbCreateAlone) {
  const json list = ResourceList(table, "authorization.k8s.io", "v1");
  EXPECT_EQ(list["resources"][0]["verbs"], J("['create']"));
}

TEST_F(DiscoveryTest, Aggregated) {
  const json core = AggregatedDiscovery(table, DiscoveryOf::kCore);
  EXPECT_EQ(core["kind"], "APIGroupDiscoveryList");
  EXPECT_EQ(core["apiVersion"], "apidiscovery.k8s.io/v2");
  ASSERT_EQ(core["items"].size(), 1U);
  EXPECT_EQ(core["items"][0]["metadata"], json::object());
  const json& version = core["items"][0]["versions"][0];
  EXPECT_EQ(version["freshness"], "Current");
  const json pods = Entry(version["resources"], "resource", "pods");
  EXPECT_EQ(pods["scope"], "Namespaced");
  EXPECT_EQ(pods["responseKind"], J("{'group': '', 'version': 'v1', 'kind': 'Pod'}"));
  EXPECT_EQ(Entry(pods["subresources"], "subresource", "eviction")["responseKind"],
            J("{'group': 'policy', 'version': 'v1', 'kind': 'Eviction'}"));
  const json groups = AggregatedDiscovery(table, DiscoveryOf::kGroups);
  EXPECT_EQ(groups["items"].back()["metadata"]["name"], "example.com");
  EXPECT_EQ(groups["items"].back()["versions"].size(), 4U);
  EXPECT_EQ(Entry(Entry(core["items"][0]["versions"], "version", "v1")["resources"],
                  "resource",
                  "nodes")["scope"],
            "Cluster");
}

}  // namespace
}  // namespace strata::apiserver
