#include "controllers/job_plugins.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "controllers/object_meta.h"
#include "controllers/plugin_arguments.h"
#include "controllers/ssh_keys.h"
#include "json/access.h"
#include "json/parse.h"

namespace strata::controllers {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

objects::Job JobWith(const std::string& plugin, std::vector<std::string> arguments = {}) {
  objects::Job job;
  job.meta.name = "train";
  job.meta.ns = "ml";
  job.meta.uid = "u";
  for (const auto& [name, replicas] : {std::pair{"master", 1}, {"my-worker", 2}}) {
    objects::JobTask task;
    task.name = name;
    task.replicas = replicas;
    job.tasks.push_back(task);
  }
  job.plugins[plugin] = std::move(arguments);
  return job;
}

json PodOf(const objects::Job& job, PodPlace place) {
  json pod = {{"spec",
               {{"containers", {{{"name", "c"}, {"env", {{{"name", "RANK"}, {"value", "mine"}}}}}}},
                {"initContainers", {{{"name", "i"}}}}}}};
  if (!job.plugins.contains("pytorch")) pod["spec"]["containers"][0].erase("env");
  ApplyPlugins(job, place, pod);
  return pod;
}

std::string VariableIn(const json& container, const std::string& name) {
  for (const json& variable : ListAt(container, {"env"})) {
    if (TextAt(variable, {"name"}) == name) return TextAt(variable, {"value"});
  }
  return "none";
}

TEST(PluginArguments, AreWrittenAsGoWritesFlags) {
  const PluginArguments arguments({"--port=22", "-master", "chief", "--wait", "stray", "--bad=x"});
  EXPECT_EQ(arguments.Port("port", 1), 22);
  EXPECT_EQ(arguments.Text("master", ""), "chief");
  EXPECT_EQ(arguments.Text("wait", ""), "stray");
  EXPECT_EQ(arguments.Port("bad", 7), 7);
  EXPECT_TRUE(arguments.Flag("absent", true));
  EXPECT_TRUE(PluginArguments({"--wait"}).Flag("wait", false));
  EXPECT_FALSE(PluginArguments({"--wait=false"}).Flag("wait", true));
}

TEST(JobPlugins, EnvTellsEveryContainerItsIndex) {
  const json pod = PodOf(JobWith("env"), {.task = 1, .index = 1});
  EXPECT_EQ(VariableIn(pod["spec"]["containers"][0], "VC_TASK_INDEX"), "1");
  EXPECT_EQ(VariableIn(pod["spec"]["initContainers"][0], "VK_TASK_INDEX"), "1");
}

TEST(JobPlugins, SvcGivesHostsAndNames) {
  const objects::Job job = JobWith("svc");
  const json pod = PodOf(job, {.task = 1, .index = 0});
  EXPECT_EQ(pod["spec"]["hostname"], "train-my-worker-0");
  EXPECT_EQ(pod["spec"]["subdomain"], "train");
  EXPECT_EQ(pod["spec"]["containers"][0]["volumeMounts"][0]["mountPath"], "/etc/volcano");
  const std::vector<PluginObject> objects = MakePluginObjects(job);
  ASSERT_THAT(objects, SizeIs(3));
  const json& data = objects[0].object["data"];
  EXPECT_EQ(data["my_worker.host"], "train-my-worker-0.train\ntrain-my-worker-1.train");
  EXPECT_EQ(data["VC_MY_WORKER_HOSTS"], "train-my-worker-0.train,train-my-worker-1.train");
  EXPECT_EQ(data["VC_MY_WORKER_NUM"], "2");
  EXPECT_EQ(objects[1].object["spec"]["clusterIP"], "None");
  EXPECT_EQ(VariableIn(pod["spec"]["containers"][0], "VC_MASTER_NUM"), "");  // from the ConfigMap
  const json without = PodOf(JobWith("svc", {"--inject-hosts-env=false"}), {1, 0});
  EXPECT_EQ(VariableIn(without["spec"]["containers"][0], "VC_MASTER_NUM"), "none");
}

TEST(JobPlugins, OnlyPodsOfTheJobMayCallEachOther) {
  const json policy = MakePluginObjects(JobWith("svc")).back().object;
  const json labels = {{"volcano.sh/job-name", "train"}, {"volcano.sh/job-namespace", "ml"}};
  EXPECT_EQ(policy["kind"], "NetworkPolicy");
  EXPECT_EQ(policy["metadata"]["name"], "train");
  EXPECT_EQ(policy["spec"]["podSelector"]["matchLabels"], labels);
  EXPECT_EQ(policy["spec"]["ingress"][0]["from"][0]["podSelector"]["matchLabels"], labels);
  EXPECT_THAT(MakePluginObjects(JobWith("svc", {"--disable-network-policy"})), SizeIs(2));
}

TEST(JobPlugins, PytorchWorkersWaitForTheirMasterWhereThatIsWanted) {
  const objects::Job job = JobWith(
      "pytorch", {"--worker=my-worker", "--wait-master-enabled=true", "--wait-master-timeout=60"});
  const json waits = PodOf(job, {.task = 1, .index = 0})["spec"]["initContainers"][0];
  EXPECT_EQ(waits["name"], "wait-for-master");
  EXPECT_EQ(waits["image"], "busybox:1.36.1");
  EXPECT_EQ(VariableIn(waits, "MASTER_ADDR"), "train-master-0.train");
  EXPECT_EQ(VariableIn(waits, "MASTER_PORT"), "23456");
  EXPECT_EQ(VariableIn(waits, "WAIT_SECONDS"), "60");
  EXPECT_EQ(PodOf(job, {.task = 0, .index = 0})["spec"]["initContainers"][0]["name"], "i");
  const objects::Job plain = JobWith("pytorch", {"--worker=my-worker"});
  EXPECT_EQ(PodOf(plain, {.task = 1, .index = 0})["spec"]["initContainers"][0]["name"], "i");
}

TEST(JobPlugins, PytorchRanksAndWhatTheTemplateSaysStays) {
  const objects::Job job = JobWith("pytorch", {"--worker=my-worker", "--port=99"});
  const json worker = PodOf(job, {.task = 1, .index = 1});
  EXPECT_EQ(VariableIn(worker["spec"]["containers"][0], "RANK"), "mine");
  EXPECT_EQ(VariableIn(worker["spec"]["initContainers"][0], "RANK"), "2");
  EXPECT_EQ(VariableIn(worker["spec"]["containers"][0], "MASTER_ADDR"), "train-master-0.train");
  EXPECT_EQ(VariableIn(worker["spec"]["containers"][0], "WORLD_SIZE"), "3");
  EXPECT_EQ(worker["spec"]["containers"][0]["ports"][0]["containerPort"], 99);
}

TEST(JobPlugins, MpiTellsTheMasterItsWorkers) {
  const objects::Job job = JobWith("mpi", {"--worker=my-worker"});
  EXPECT_EQ(VariableIn(PodOf(job, {0, 0})["spec"]["containers"][0], "MPI_HOST"),
            "train-my-worker-0.train,train-my-worker-1.train");
  EXPECT_EQ(VariableIn(PodOf(job, {1, 0})["spec"]["containers"][0], "MPI_HOST"), "none");
  EXPECT_EQ(PodOf(job, {1, 0})["spec"]["containers"][0]["ports"][0]["containerPort"], 22);
}

TEST(JobPlugins, TensorflowDescribesTheCluster) {
  const objects::Job job = JobWith("tensorflow", {"--chief=master", "--worker=my-worker"});
  const json config =
      ParseJsonOrNull(VariableIn(PodOf(job, {1, 1})["spec"]["containers"][0], "TF_CONFIG"));
  EXPECT_EQ(config["task"], (json{{"type", "worker"}, {"index", 1}}));
  EXPECT_EQ(config["cluster"]["chief"], json::array({"train-master-0.train:2222"}));
  EXPECT_THAT(config["cluster"], SizeIs(2));
}

TEST(JobPlugins, SshKeysAreAPair) {
  const json secret = MakeSshSecret(JobWith("ssh"), NewSshKeys);
  const auto text = [&](const char* key) {
    return DecodeBase64(TextAt(secret, {"data", key})).value_or("");
  };
  EXPECT_THAT(text("id_rsa"), StartsWith("-----BEGIN RSA PRIVATE KEY-----"));
  EXPECT_THAT(text("id_rsa.pub"), StartsWith("ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB"));
  EXPECT_THAT(text("config"),
              HasSubstr("Host train-my-worker-1\n  HostName train-my-worker-1.train"));
  EXPECT_TRUE(MakeSshSecret(JobWith("env"), NewSshKeys).is_null());
}

}  // namespace
}  // namespace strata::controllers
