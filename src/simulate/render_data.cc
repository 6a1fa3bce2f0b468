#include "simulate/render_data.h"

#include <string>

#include <nlohmann/json.hpp>

#include "json/dump.h"
#include "json/from_map.h"
#include "objects/yaml_writer.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const RunResult::Job& job) {
  return {{"phase", job.phase},
          {"allocatedHyperNode", job.allocated_hypernode},
          {"tier", job.tier},
          {"reason", job.reason},
          {"message", job.message}};
}

Json ToJson(const RunResult::HyperNode& hypernode) {
  return {{"tier", hypernode.tier},
          {"parent", hypernode.parent},
          {"nodes", hypernode.nodes},
          {"ready", hypernode.ready},
          {"reason", hypernode.reason}};
}

Json ToJson(const RunResult::Evictions& evictions) {
  Json victims = Json::array();
  for (const RunResult::Evictions::Victim& victim : evictions.victims) {
    victims.push_back({{"job", victim.job},
                       {"unit", victim.whole_gang ? "gang" : "surplus"},
                       {"pods", victim.pods}});
  }
  return {{"cycle", evictions.cycle},
          {"action", evictions.action},
          {"job", evictions.claimant},
          {"hyperNode", evictions.hypernode},
          {"tier", evictions.tier},
          {"victims", std::move(victims)}};
}

Json ToJson(const RunResult& result) {
  const auto same = [](const auto& value) { return Json(value); };
  Json json = Json::object();
  json["binds"] = JsonFromMap(result.binds, same);
  json["pipelined"] = JsonFromMap(result.pipelined, same);
  json["evicted"] = result.evicted;
  json["devices"] = JsonFromMap(
      result.devices, [&](const auto& containers) { return JsonFromMap(containers, same); });
  json["jobs"] = JsonFromMap(result.jobs, [](const auto& job) { return ToJson(job); });
  json["hyperNodes"] =
      JsonFromMap(result.hypernodes, [](const auto& hypernode) { return ToJson(hypernode); });
  json["topologyReady"] = result.topology_ready;
  json["warnings"] = Json::array();
  for (const RunResult::Warning& warning : result.warnings) {
    json["warnings"].push_back(
        {{"object", warning.object}, {"reason", warning.reason}, {"message", warning.message}});
  }
  json["cycles"] = result.cycles;
  if (result.seconds > 0) json["simulatedSeconds"] = result.seconds;
  if (!result.evictions.empty()) {
    json["evictions"] = Json::array();
    for (const RunResult::Evictions& evictions : result.evictions) {
      json["evictions"].push_back(ToJson(evictions));
    }
  }
  if (!result.explain.empty()) json["explain"] = result.explain;
  if (result.timings) {
    json["timings"] = {{"loadMs", result.timings->load_ms},
                       {"openMs", result.timings->open_ms},
                       {"actionsMs", result.timings->actions_ms},
                       {"closeMs", result.timings->close_ms}};
  }
  return json;
}

}  // namespace

std::string RenderJson(const RunResult& result) {
  return DumpPrettyJson(ToJson(result)) + "\n";
}

std::string RenderYaml(const RunResult& result) {
  return objects::WriteYaml(ToJson(result));
}

}  // namespace strata
