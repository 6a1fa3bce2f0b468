#pragma once

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "controllers/job_reconcile.h"
#include "controllers/object_meta.h"
#include "controllers/plan.h"
#include "json/access.h"
#include "json/parse.h"

namespace strata::controllers {

// A cluster with one Job, as far as its controller sees it: objects, and writes to them with what
// an API server does about names, uids and versions. Pods that are deleted go at once.
class TestCluster {
 public:
  using Json = nlohmann::json;
  using Name = std::pair<std::string, std::string>;  // plural, name

  explicit TestCluster(Json job) {
    job["apiVersion"] = "batch.volcano.sh/v1alpha1";
    job["kind"] = "Job";
    job["metadata"]["name"] = "train";
    job["metadata"]["namespace"] = "default";
    job["metadata"]["creationTimestamp"] = "2026-11-16T00:00:00Z";
    Put("jobs", std::move(job));
  }

  // True for a write that is to fail.
  std::function<bool(const Write&)> fails = [](const Write&) { return false; };

  void Put(const std::string& plural, Json object) {
    Json& meta = object["metadata"];
    const Name name{plural, TextAt(object, {"metadata", "name"})};
    if (!meta.contains("uid")) meta["uid"] = "uid-" + std::to_string(++last_uid_);
    meta["resourceVersion"] = std::to_string(++last_version_);
    objects_[name] = std::move(object);
  }
  [[nodiscard]] Json& At(const std::string& plural, const std::string& name) {
    return objects_[{plural, name}];
  }
  [[nodiscard]] bool Has(const std::string& plural, const std::string& name) const {
    return objects_.contains({plural, name});
  }
  [[nodiscard]] std::vector<std::string> Names(const std::string& plural) const {
    std::vector<std::string> names;
    for (const auto& [name, object] : objects_) {
      if (name.first == plural) names.push_back(name.second);
    }
    return names;
  }
  [[nodiscard]] const std::string& Phase() {
    return TextAt(At("jobs", "train"), {"status", "state", "phase"});
  }
  [[nodiscard]] std::string GroupName() { return Names("podgroups").at(0); }
  void SetGroupPhase(const std::string& phase) {
    At("podgroups", GroupName())["status"]["phase"] = phase;
  }
  void SetPod(const std::string& name, const std::string& phase, int exit_code = 0) {
    Json& pod = At("pods", name);
    pod["status"]["phase"] = phase;
    pod["status"]["conditions"] = {{{"type", "Ready"}, {"status", "True"}}};
    if (phase == "Failed") {
      pod["status"]["containerStatuses"] = {
          {{"state", {{"terminated", {{"exitCode", exit_code}}}}}}};
    }
  }
  void SetPods(const std::string& phase) {
    for (const std::string& name : Names("pods")) SetPod(name, phase);
  }
  // Somebody else deletes a pod.
  void LosePod(const std::string& name) {
    memory.lost.push_back(SeePod(At("pods", name)));
    objects_.erase({"pods", name});
  }
  void Command(const std::string& action) {
    Put("commands",
        {{"metadata", {{"name", "c-" + action}, {"namespace", "default"}}}, {"action", action}});
  }

  [[nodiscard]] JobView View() {
    JobView view{.job = Ref(At("jobs", "train")),
                 .pod_group = nullptr,
                 .pods = {},
                 .commands = {},
                 .memory = memory,
                 .priorities = objects::PriorityTable({}),
                 .make_keys =
                     [] {
                       return SshKeys{"private", "public"};
                     },
                 .now = now,
                 .scheduler = scheduler};
    for (const auto& [name, object] : objects_) {
      if (name.first == "podgroups") view.pod_group = Ref(object);
      if (name.first == "pods") view.pods.push_back(SeePod(object));
      if (name.first == "commands") view.commands.push_back(Ref(object));
    }
    return view;
  }

  // One look and its writes. True when something was written.
  bool Step() {
    JobPlan made = ReconcileJob(View());
    bool wrote = false;
    for (const std::vector<Write>& step : made.plan.steps) {
      for (const Write& write : step) {
        if (fails(write)) return true;
        Carry(write);
        wrote = true;
      }
    }
    for (const kube::EventNote& note : made.plan.events) told.push_back(note.message);
    again = made.plan.again;
    memory = made.memory;
    return wrote;
  }
  // Until nothing is left to do, as if counts had waited for their second.
  void Settle() {
    for (int i = 0; i < 200; ++i) {
      if (Step()) continue;
      if (!memory.counts_since) return;
      memory.counts_since = now - std::chrono::seconds(1);
    }
    ADD_FAILURE() << "does not settle";
  }

  Time now = Time(std::chrono::hours(24));
  std::string scheduler = "volcano";
  JobMemory memory;
  std::optional<Duration> again;
  std::vector<std::string> told;
  int creates = 0;
  std::vector<std::string> twice;  // created although they were there

 private:
  static ObjectRef Ref(const Json& object) { return std::make_shared<const Json>(object); }

  void Carry(const Write& write) {
    const Name name{std::string(write.resource.plural), write.name};
    const auto found = objects_.find(name);
    switch (write.verb) {
      case Write::Verb::kCreate:
      case Write::Verb::kEnsure:
        if (found == objects_.end()) {
          ++creates;
          Json made = ParseJsonOrNull(write.body);
          made["metadata"]["creationTimestamp"] = FormatTimestamp(now);
          Put(name.first, std::move(made));
        } else if (write.verb == Write::Verb::kCreate) {
          twice.push_back(write.name);
        } else {
          found->second.merge_patch(ParseJsonOrNull(write.body));
        }
        return;
      case Write::Verb::kReplace:
        ASSERT_NE(found, objects_.end()) << write.name;
        Put(name.first, ParseJsonOrNull(write.body));
        return;
      case Write::Verb::kPatch: {
        if (found == objects_.end()) return;
        Json patched = found->second;
        patched.merge_patch(ParseJsonOrNull(write.body));
        Put(name.first, std::move(patched));
        return;
      }
      case Write::Verb::kDelete:
        if (found == objects_.end()) return;
        EXPECT_EQ(TextAt(found->second, {"metadata", "uid"}), write.uid);
        objects_.erase(found);
    }
  }

  std::map<Name, Json> objects_;
  int last_uid_ = 0;
  int last_version_ = 0;
};

}  // namespace strata::controllers
