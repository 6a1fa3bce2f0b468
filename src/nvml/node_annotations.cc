#include "nvml/node_annotations.h"

#include <nlohmann/json.hpp>

#include "json/dump.h"

namespace strata::nvml {
namespace {

using Json = nlohmann::ordered_json;

// A driver's text need not be UTF-8.
Json ToJson(const MigProfile& profile) {
  Json json = {{"name", profile.name}, {"memoryMB", profile.memory_mib}, {"core", profile.cores}};
  json["placements"] = Json::array();
  for (const MigPlacement& placement : profile.placements) {
    json["placements"].push_back({{"start", placement.start}, {"size", placement.size}});
  }
  return json;
}

Json ToJson(const Gpu& gpu) {
  Json json = {{"id", gpu.uuid}};
  if (gpu.index != 0) json["index"] = gpu.index;
  if (gpu.slots != 0) json["count"] = gpu.slots;
  if (gpu.memory_mib != 0) json["devmem"] = gpu.memory_mib;
  if (gpu.cores != 0) json["devcore"] = gpu.cores;
  if (!gpu.type.empty()) json["type"] = gpu.type;
  if (gpu.numa != 0) json["numa"] = gpu.numa;
  if (!gpu.mode.empty()) json["mode"] = gpu.mode;
  if (gpu.healthy) json["health"] = true;
  for (const MigProfile& profile : gpu.mig_profiles) {
    json["migProfiles"].push_back(ToJson(profile));
  }
  return json;
}

}  // namespace

std::string RegisterText(const NodeGpus& node) {
  Json json = Json::array();
  for (const Gpu& gpu : node.gpus) json.push_back(ToJson(gpu));
  return DumpJson(json);
}

std::string ScoreText(const NodeGpus& node) {
  Json json = Json::array();
  for (std::size_t i = 0; i < node.gpus.size(); ++i) {
    Json row = Json::object();
    for (std::size_t j = 0; j < node.gpus.size(); ++j) {
      if (i != j && node.scores.IsKnown(i, j)) row[node.gpus[j].uuid] = node.scores.Get(i, j);
    }
    json.push_back({{"uuid", node.gpus[i].uuid}, {"score", std::move(row)}});
  }
  return DumpJson(json);
}

}  // namespace strata::nvml
