#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "controllers/test_cluster.h"

// Jobs for tests.
namespace strata::controllers {

inline nlohmann::json Task(const std::string& name,
                           int replicas,
                           const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json task = {{"name", name},
                         {"replicas", replicas},
                         {"template",
                          {{"spec",
                            {{"containers", {{{"name", "c"}, {"image", "i"}}}},
                             {"restartPolicy", "Never"},
                             {"unheardOf", {{"kept", true}}}}}}}};
  task.merge_patch(more);
  return task;
}

inline nlohmann::json JobOf(const std::vector<nlohmann::json>& tasks,
                            const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json spec = {{"tasks", tasks}};
  spec.merge_patch(more);
  return {{"spec", spec}};
}

inline nlohmann::json Policy(const std::string& event, const std::string& action) {
  return {{"event", event}, {"action", action}};
}

// A job of two workers that run.
inline TestCluster Running(const nlohmann::json& more = nlohmann::json::object(),
                           const nlohmann::json& task = nlohmann::json::object()) {
  TestCluster cluster(JobOf({Task("worker", 2, task)}, more));
  cluster.Settle();
  cluster.SetGroupPhase("Inqueue");
  cluster.Settle();
  cluster.SetPods("Running");
  cluster.Settle();
  return cluster;
}

}  // namespace strata::controllers
