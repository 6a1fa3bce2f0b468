#include "simulate/trace_json.h"

#include <map>
#include <variant>

#include <nlohmann/json.hpp>

#include "convert/amounts.h"
#include "json/dump.h"
#include "json/from_map.h"
#include "report/device_json.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const ScoresByName& scores) {
  return JsonFromMap(scores, [](Score score) { return Json(ToDouble(score)); });
}

Json ToJson(const std::map<std::string, ScoresByName>& by_plugin) {
  return JsonFromMap(by_plugin, [](const ScoresByName& scores) { return ToJson(scores); });
}

const char* TypeOf(StepRecord::Kind kind) {
  switch (kind) {
    case StepRecord::Kind::kAllocate:
      return "allocate";
    case StepRecord::Kind::kPipeline:
      return "pipeline";
    case StepRecord::Kind::kEvict:
      return "evict";
    case StepRecord::Kind::kCommit:
      return "commit";
    case StepRecord::Kind::kDiscard:
      return "discard";
  }
  return "";
}

// Each adds the type and the fields of its record.
struct Fields {
  Json& json;

  void operator()(const GradientRecord& record) const {
    json["type"] = "gradient";
    json["job"] = record.job;
    json["subJob"] = record.sub_job;
    json["root"] = record.root;
    json["tiers"] = Json::array();
    for (const GradientRecord::Tier& tier : record.tiers) {
      Json rejected = Json::array();
      for (const GradientRecord::Rejected& entry : tier.rejected) {
        rejected.push_back({{"hyperNode", entry.hypernode}, {"reason", entry.reason}});
      }
      Json out = Json::object();
      out["tier"] = tier.tier;
      out["eligible"] = tier.eligible;
      out["rejected"] = std::move(rejected);
      json["tiers"].push_back(std::move(out));
    }
  }

  void operator()(const HyperNodeScoreRecord& record) const {
    json["type"] = "hyperNodeScore";
    json["job"] = record.job;
    json["subJob"] = record.sub_job;
    json["scores"] = ToJson(record.scores);
    json["total"] = ToJson(record.total);
    json["failed"] = record.failed;
    json["chosen"] = record.chosen;
  }

  void operator()(const NodeScoreRecord& record) const {
    json["type"] = "nodeScore";
    json["job"] = record.job;
    json["pod"] = record.pod;
    json["hyperNode"] = record.hypernode;
    json["scores"] = ToJson(record.scores);
    json["total"] = ToJson(record.total);
    json["chosen"] = record.chosen;
  }

  void operator()(const RejectRecord& record) const {
    json["type"] = "reject";
    json["job"] = record.job;
    json["pod"] = record.pod;
    json["node"] = record.node;
    json["plugin"] = record.plugin;
    json["reason"] = record.reason;
  }

  void operator()(const NearestMissRecord& record) const {
    json["type"] = "nearestMiss";
    json["job"] = record.job;
    json["subJob"] = record.sub_job;
    json["tier"] = record.tier;
    json["hyperNode"] = record.hypernode;
    json["fits"] = record.fits;
    json["wanted"] = record.wanted;
    json["shortOf"] = Json::object();
    for (const auto& [name, amount] : record.short_of) {
      json["shortOf"][name] = ToQuantity(name, amount).ToString();
    }
    json["nodes"] = JsonFromMap(record.nodes, [](std::size_t count) { return Json(count); });
  }

  void operator()(const EvictionRecord& record) const {
    json["type"] = "eviction";
    json["job"] = record.job;
    json["action"] = record.action;
    json["hyperNode"] = record.chosen.hypernode;
    json["gangs"] = record.chosen.cost.BrokenGangs();
    json["pods"] = record.chosen.cost.pods;
    json["others"] = Json::array();
    for (const EvictionRecord::Domain& other : record.others) {
      json["others"].push_back({{"hyperNode", other.hypernode},
                                {"tier", other.tier},
                                {"gangs", other.cost.BrokenGangs()},
                                {"pods", other.cost.pods}});
    }
  }

  void operator()(const StepRecord& record) const {
    json["type"] = TypeOf(record.kind);
    json["job"] = record.job;
    const bool of_a_pod =
        record.kind != StepRecord::Kind::kCommit && record.kind != StepRecord::Kind::kDiscard;
    if (of_a_pod) {
      json["pod"] = record.pod;
      json["node"] = record.node;
      if (record.devices) json["devices"] = DevicesToJson(*record.devices);
    } else {
      json["hyperNode"] = record.hypernode;
    }
  }
};

}  // namespace

std::string ToJsonLine(std::int32_t cycle, const TraceRecord& record) {
  Json json = Json::object();
  json["cycle"] = cycle;
  std::visit(Fields{json}, record);
  return DumpJson(json);
}

}  // namespace strata
