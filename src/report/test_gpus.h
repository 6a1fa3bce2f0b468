#pragma once

#include <string>

// A cluster of registered GPUs for tests.
namespace strata {

// A machine of four GPUs in two NVLink pairs, 0-1 and 2-3, of which GPU 1 is held and 3 cordoned.
inline std::string FourGpus() {
  std::string gpus;
  std::string rows;
  for (int i = 0; i < 4; ++i) {
    const std::string uuid = "GPU-" + std::to_string(i);
    gpus += std::string(i == 0 ? "" : ",") + R"({"id":")" + uuid + R"(","index":)" +
            std::to_string(i) + R"(,"count":10,"devmem":1000,"devcore":100,"health":true})";
    std::string scores;
    for (int j = 0; j < 4; ++j) {
      if (j == i) continue;
      scores += std::string(scores.empty() ? "" : ",") + "\"GPU-" + std::to_string(j) +
                "\":" + (i / 2 == j / 2 ? "1220" : "10");
    }
    rows +=
        std::string(i == 0 ? "" : ",") + R"({"uuid":")" + uuid + R"(","score":{)" + scores + "}}";
  }
  return "apiVersion: v1\nkind: Node\nmetadata:\n  name: a\n  annotations:\n"
         "    hami.io/node-nvidia-register: '[" +
         gpus + "]'\n    hami.io/node-nvidia-score: '[" + rows +
         "]'\n    hami.io/device-cordon: GPU-3\n"
         "status: {allocatable: {cpu: 8, pods: 110, nvidia.com/gpu: 40}}\n---\n"
         "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n  annotations:\n"
         "    hami.io/vgpu-devices-allocated: 'GPU-1,NVIDIA,1000,100:;'\n"
         "spec: {nodeName: a, containers: [{name: c, image: i, resources: "
         "{limits: {nvidia.com/gpu: 1}}}]}\nstatus: {phase: Running}\n";
}

}  // namespace strata
