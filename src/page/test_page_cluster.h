#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "convert/cluster_feed.h"
#include "objects/load.h"
#include "whatif/cluster.h"

namespace strata::page {

// A small cluster of objects as the API server has them.
class PageCluster {
 public:
  // `spec` is more of its spec: "unschedulable":true
  void Node(const std::string& name, int gpus, const std::string& spec = "") {
    Apply(fmt::format(
        R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}"}},"spec":{{{}}},"status":{{"allocatable":)"
        R"({{"cpu":"64","memory":"256Gi","pods":"110","nvidia.com/gpu":"{}"}}}}}})",
        name,
        spec,
        gpus));
  }
  void Leaf(const std::string& name, std::initializer_list<std::string> nodes) {
    HyperNode(name, 1, "Node", nodes);
  }
  void Above(const std::string& name, std::initializer_list<std::string> children) {
    HyperNode(name, 2, "HyperNode", children);
  }
  // Waits for the reason of `message`, unless that is "".
  void Group(const std::string& name, int min_member, const std::string& message = "") {
    const std::string condition =
        message.empty()
            ? ""
            : R"({"type":"Unschedulable","status":"True","reason":"TopologyUnsatisfied","message":")" +
                  message + "\"}";
    Apply(fmt::format(
        R"({{"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup","metadata":{{"name":"{}","namespace":"default"}},)"
        R"("spec":{{"minMember":{}}},"status":{{"phase":"Inqueue","conditions":[{}]}}}})",
        name,
        min_member,
        condition));
  }
  // On `node`, unless that is ""; of no group for "".
  void Pod(const std::string& name,
           const std::string& group,
           int gpus,
           const std::string& node,
           bool deleted = false) {
    Apply(fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"default","uid":"{}"{}{}}},)"
        R"("spec":{{"schedulerName":"volcano","containers":[{{"name":"main","image":"x","resources":)"
        R"({{"requests":{{"nvidia.com/gpu":"{}"}},"limits":{{"nvidia.com/gpu":"{}"}}}}}}]{}}},"status":{{"phase":"{}"}}}})",
        name,
        name,
        group.empty() ? "" : R"(,"annotations":{"scheduling.k8s.io/group-name":")" + group + "\"}",
        deleted ? R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")" : "",
        gpus,
        gpus,
        node.empty() ? "" : R"(,"nodeName":")" + node + "\"",
        node.empty() ? "Pending" : "Running"));
  }
  void RemoveGroup(const std::string& name) { feed_.Remove("PodGroup", "default", name); }
  void RemovePod(const std::string& name) { feed_.Remove("Pod", "default", name); }
  void RemoveNode(const std::string& name) { feed_.Remove("Node", "", name); }

  const ClusterFeed& Settled() {
    std::vector<std::string> problems;
    feed_.Settle(problems);
    EXPECT_TRUE(problems.empty()) << problems.front();
    return feed_;
  }

 private:
  void HyperNode(const std::string& name,
                 int tier,
                 const std::string& kind,
                 std::initializer_list<std::string> members) {
    std::string list;
    for (const std::string& member : members) {
      list += fmt::format(R"({}{{"type":"{}","selector":{{"exactMatch":{{"name":"{}"}}}}}})",
                          list.empty() ? "" : ",",
                          kind,
                          member);
    }
    Apply(fmt::format(
        R"({{"apiVersion":"topology.volcano.sh/v1alpha1","kind":"HyperNode","metadata":{{"name":"{}"}},)"
        R"("spec":{{"tier":{},"members":[{}]}}}})",
        name,
        tier,
        list));
  }

  void Apply(const std::string& text) {
    const objects::Source source{"test", text};
    auto read = objects::ParseObjects({&source, 1});
    ASSERT_TRUE(read) << read.error().message;
    const Status applied = feed_.Apply(*std::move(read));
    ASSERT_TRUE(applied) << applied.error().message;
  }

  ClusterState state_;
  ClusterFeed feed_{state_, IsOurs};
};

}  // namespace strata::page
