// What the API server does to every pod before it is stored: does it decode, unknown fields,
// defaults, one way to write values; and how long the first pod waits for its schema.
#include <string>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "schema/catalog.h"
#include "schema/check.h"
#include "schema/embedded.h"
#include "schema/type_reader.h"

namespace strata::schema {
namespace {

// A training pod as a user writes it, about 2 kB.
nlohmann::json TrainingPod() {
  nlohmann::json pod = nlohmann::json::parse(R"({
    "apiVersion":"v1","kind":"Pod",
    "metadata":{"name":"train-worker-17","namespace":"team-a",
      "labels":{"app":"train","volcano.sh/job-name":"train","volcano.sh/task-spec":"worker",
                "volcano.sh/task-index":"17","volcano.sh/queue-name":"team-a"},
      "annotations":{"scheduling.k8s.io/group-name":"train-6f1d","volcano.sh/task-spec":"worker",
                     "volcano.sh/job-version":"0","volcano.sh/template-uid":"train-worker"},
      "ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job","name":"train",
        "uid":"6f1d2c3b-0000-4000-8000-000000000001","controller":true}]},
    "spec":{"schedulerName":"volcano","hostname":"train-worker-17","subdomain":"train",
      "priorityClassName":"high","nodeSelector":{"zone":"a"},
      "tolerations":[{"key":"nvidia.com/gpu","operator":"Exists","effect":"NoSchedule"}],
      "containers":[{"name":"worker","image":"registry.example.com/train:1.4",
        "command":["torchrun"],"args":["--nnodes=32","--nproc-per-node=8","train.py"],
        "ports":[{"containerPort":23456,"name":"rdzv"}],
        "resources":{"requests":{"cpu":"96","memory":"1024Gi","nvidia.com/gpu":8},
                     "limits":{"cpu":"96000m","memory":"1Ti","nvidia.com/gpu":"8"}},
        "volumeMounts":[{"name":"data","mountPath":"/data"},{"name":"shm","mountPath":"/dev/shm"}]}],
      "volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"data"}},
                 {"name":"shm","emptyDir":{"medium":"Memory","sizeLimit":"64Gi"}}]}})");
  nlohmann::json& env = pod["spec"]["containers"][0]["env"];
  for (int i = 0; i < 8; ++i) {
    env.push_back({{"name", "VARIABLE_" + std::to_string(i)}, {"value", "some value"}});
  }
  return pod;
}

void CheckPod(benchmark::State& state) {
  const SchemaRef schema = BuiltIn("", "v1", "Pod");
  const nlohmann::json pod = TrainingPod();
  for (auto iteration : state) {
    static_cast<void>(iteration);
    state.PauseTiming();
    nlohmann::json object = pod;
    state.ResumeTiming();
    CHECK(CheckDecodes(*schema, object).has_value());
    CHECK(UnknownFields(*schema, object).first.empty());
    ApplyDefaults(*schema, object);
    Normalize(*schema, object);
    CHECK(Validate(*schema, object).empty());
    benchmark::DoNotOptimize(object);
  }
  state.counters["bytes"] = static_cast<double>(pod.dump().size());
}
BENCHMARK(CheckPod)->Name("schema/pod-2kB")->Unit(benchmark::kMicrosecond);

void MakeAllSchemas(benchmark::State& state) {
  for (auto iteration : state) {
    static_cast<void>(iteration);
    TypeReader reader(EmbeddedTypes(), EmbeddedDescriptions());
    for (const std::string& name : reader.TypeNames()) CHECK(reader.Type(name) != nullptr);
  }
}
BENCHMARK(MakeAllSchemas)->Name("schema/all-types")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace strata::schema
