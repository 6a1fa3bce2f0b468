#include "simulate/render_data.h"

#include <cstddef>
#include <string>

#include <nlohmann/json.hpp>

#include "convert/amounts.h"
#include "objects/yaml_writer.h"
#include "simulate/json_object.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const SimulationResult::Job& job) {
  return {{"phase", job.phase},
          {"allocatedHyperNode", job.allocated_hypernode},
          {"tier", job.tier},
          {"reason", job.reason},
          {"message", job.message}};
}

Json ToJson(const SimulationResult::HyperNode& hypernode) {
  return {{"tier", hypernode.tier},
          {"parent", hypernode.parent},
          {"nodes", hypernode.nodes},
          {"ready", hypernode.ready},
          {"reason", hypernode.reason}};
}

Json ToJson(const SimulationResult& result) {
  const auto same = [](const auto& value) { return Json(value); };
  Json json = Json::object();
  json["binds"] = JsonObject(result.binds, same);
  json["pipelined"] = JsonObject(result.pipelined, same);
  json["evicted"] = result.evicted;
  json["devices"] = JsonObject(
      result.devices, [&](const auto& containers) { return JsonObject(containers, same); });
  json["jobs"] = JsonObject(result.jobs, [](const auto& job) { return ToJson(job); });
  json["hyperNodes"] =
      JsonObject(result.hypernodes, [](const auto& hypernode) { return ToJson(hypernode); });
  json["topologyReady"] = result.topology_ready;
  json["warnings"] = Json::array();
  for (const SimulationResult::Warning& warning : result.warnings) {
    json["warnings"].push_back(
        {{"object", warning.object}, {"reason", warning.reason}, {"message", warning.message}});
  }
  json["cycles"] = result.cycles;
  if (!result.explain.empty()) json["explain"] = result.explain;
  if (result.timings) {
    json["timings"] = {{"loadMs", result.timings->load_ms},
                       {"openMs", result.timings->open_ms},
                       {"actionsMs", result.timings->actions_ms},
                       {"closeMs", result.timings->close_ms}};
  }
  return json;
}

Json ToJson(const TopologyReport& report, const std::vector<Amount>& amounts) {
  Json json = Json::object();
  for (std::size_t i = 0; i < report.resources.size(); ++i) {
    json[report.resources[i]] = ToQuantity(report.resources[i], amounts[i]).ToString();
  }
  return json;
}

Json ToJson(const TopologyReport& report) {
  Json json = Json::object();
  json["pod"] = Json::object();
  for (const auto& [name, quantity] : report.pod) json["pod"][name] = quantity.ToString();
  json["tiers"] = Json::array();
  for (const TopologyReport::TierFit& fit : report.tiers) {
    json["tiers"].push_back({{"tier", fit.tier},
                             {"tierName", fit.tier_name},
                             {"hyperNode", fit.hypernode},
                             {"pods", fit.pods}});
  }
  json["hyperNodes"] = Json::array();
  for (const TopologyReport::Row& row : report.rows) {
    json["hyperNodes"].push_back({{"name", row.name},
                                  {"tier", row.tier},
                                  {"tierName", row.tier_name},
                                  {"parent", row.parent},
                                  {"nodes", row.nodes},
                                  {"ready", row.ready},
                                  {"reason", row.reason},
                                  {"used", ToJson(report, row.used)},
                                  {"free", ToJson(report, row.free)},
                                  {"pods", row.pods}});
  }
  json["nodesInNoHyperNode"] = report.loose;
  for (const TopologyReport::GpuNode& node : report.gpus) {
    json["gpus"].push_back({{"node", node.node},
                            {"gpus", node.gpus},
                            {"free", node.free},
                            {"freeSets", node.sets},
                            {"problem", node.problem}});
  }
  json["topologyReady"] = report.ready;
  return json;
}

std::string Dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string RenderJson(const SimulationResult& result) {
  return Dump(ToJson(result));
}

std::string RenderYaml(const SimulationResult& result) {
  return objects::WriteYaml(ToJson(result));
}

std::string RenderJson(const TopologyReport& report) {
  return Dump(ToJson(report));
}

}  // namespace strata
