#include "convert/load_cluster.h"

#include <set>
#include <string_view>

#include "convert/amounts.h"
#include "convert/cluster_feed.h"
#include "convert/gpu_warnings.h"

namespace strata {
namespace {

void InternNames(const objects::ObjectSet& objects, ResourceNames& resource_names) {
  std::set<std::string_view, std::less<>> names = {"nvidia.com/gpu"};  // the configuration has it
  for (const objects::Node& node : objects.nodes) CollectNames(node.allocatable, names);
  for (const std::string_view name : names) resource_names.Intern(name);
}

}  // namespace

QueueSpec DefaultQueue() {
  QueueSpec spec;
  spec.name = kDefaultQueue;
  spec.uid = kDefaultQueue;
  spec.parent = "root";
  return spec;
}

Result<LoadReport> LoadCluster(const objects::ObjectSet& objects,
                               const TakesPod& takes,
                               ClusterState& state) {
  InternNames(objects, state.resource_names());
  ClusterFeed feed(state, takes);
  TRY(feed.ApplyBorrowed(objects));
  std::vector<std::string> problems;
  feed.Settle(problems);  // part of loading, not of the first cycle
  if (!problems.empty()) return Fail(Code::kInvalidArgument, problems.front());
  LoadReport report;
  report.missing_groups = feed.MissingGroups();
  for (const objects::Pod& pod : objects.pods) {
    if (!pod.meta.deleted) continue;
    const auto task = feed.FindTask(objects::NamespacedName(pod.meta));
    if (task) report.terminating.push_back(*task);
  }
  WarnOfGpus(objects, state, report.warnings);
  return report;
}

}  // namespace strata
