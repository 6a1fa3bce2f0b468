#include <nlohmann/json.hpp>

#include "convert/amounts.h"
#include "explain/eviction_text.h"
#include "explain/render_explain.h"
#include "json/dump.h"
#include "report/device_json.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const std::map<std::string, Amount>& amounts) {
  Json json = Json::object();
  for (const auto& [name, amount] : amounts) json[name] = ToQuantity(name, amount).ToString();
  return json;
}

Json ToJson(const std::vector<Explanation::NamedScore>& scores) {
  Json json = Json::array();
  for (const auto& [name, score] : scores) {
    json.push_back({{"name", name}, {"score", ToDouble(score)}});
  }
  return json;
}

Json ToJson(const std::vector<Holder>& holders) {
  Json json = Json::array();
  for (const Holder& holder : holders) {
    json.push_back({{"kind", holder.kind == Holder::Kind::kPod ? "Pod" : "PodGroup"},
                    {"name", holder.name},
                    {"pods", holder.pods},
                    {"amounts", ToJson(holder.amounts)}});
  }
  return json;
}

Json ToJson(const Explanation::Tier& tier) {
  Json ruled_out = Json::array();
  for (const auto& [reason, names] : tier.ruled_out) {
    ruled_out.push_back({{"hyperNodes", names}, {"reason", reason}});
  }
  Json json = Json::object();
  json["tier"] = tier.tier;
  json["open"] = tier.open;
  json["ruledOut"] = std::move(ruled_out);
  json["failed"] = tier.failed;
  json["chosen"] = tier.chosen;
  json["scores"] = ToJson(tier.scores);
  return json;
}

Json ToJson(const Explanation::Search& search) {
  Json json = Json::object();
  json["subJob"] = search.sub_job;
  json["root"] = search.root;
  json["tiers"] = Json::array();
  for (const Explanation::Tier& tier : search.tiers) json["tiers"].push_back(ToJson(tier));
  return json;
}

Json ToJson(const Explanation::Miss& miss) {
  Json json = Json::object();
  json["subJob"] = miss.record.sub_job;
  json["tier"] = miss.record.tier;
  json["hyperNode"] = miss.record.hypernode;
  json["fits"] = miss.record.fits;
  json["wanted"] = miss.record.wanted;
  json["shortOf"] = ToJson(miss.record.short_of);
  json["nodes"] = miss.record.nodes.empty() ? Json::object() : Json(miss.record.nodes);
  json["heldBy"] = ToJson(miss.holders);
  return json;
}

Json ToJson(const Explanation::Pod& pod) {
  Json json = Json::object();
  json["name"] = pod.name;
  json["node"] = pod.node;
  json["waits"] = pod.waits;
  if (pod.score) json["score"] = ToDouble(*pod.score);
  if (pod.score) json["others"] = ToJson(pod.others);
  if (pod.devices) json["devices"] = DevicesToJson(*pod.devices);
  return json;
}

Json ToJson(const RunResult::Evictions& plan) {
  Json json = Json::object();
  json["action"] = plan.action;
  json["job"] = plan.claimant;
  json["hyperNode"] = plan.hypernode;
  json["tier"] = plan.tier;
  json["victims"] = Json::array();
  for (const RunResult::Evictions::Victim& victim : plan.victims) {
    Json one = {{"job", victim.job},
                {"queue", victim.queue},
                {"priority", victim.priority},
                {"unit", victim.whole_gang ? "gang" : "surplus"},
                {"pods", victim.pods},
                {"nodes", victim.nodes}};
    if (victim.runs_for) one["runsForSeconds"] = *victim.runs_for;
    one["graceSeconds"] = victim.grace_seconds;
    json["victims"].push_back(std::move(one));
  }
  return json;
}

Json ToJson(const Cost& cost) {
  Json json = Json::object();
  json["gangs"] = cost.BrokenGangs();
  json["pods"] = cost.pods;
  json["levels"] = Json::array();
  for (const Cost::Level& level : cost.levels) {
    json["levels"].push_back(
        {{"priority", level.priority}, {"gangs", level.gangs}, {"surplusPods", level.surplus}});
  }
  json["lostDeviceSeconds"] = cost.lost_work / 1000;
  json["graceSeconds"] = cost.grace_seconds;
  return json;
}

Json ToJson(const EvictionRecord::Domain& other) {
  return {{"hyperNode", other.hypernode},
          {"tier", other.tier},
          {"cost", ToJson(other.cost)},
          {"worseBy", WordOf(other.worse_by)}};
}

Json ToJson(const EvictionRecord::Protected& kept) {
  return {{"job", kept.job}, {"pods", kept.pods}, {"why", kept.kind}};
}

Json ToJson(const Relaxation& relaxation) {
  Json json = Json::object();
  json["kind"] = ToString(relaxation.kind);
  json["object"] = relaxation.object;
  json["field"] = relaxation.field;
  json["from"] = relaxation.from;
  json["to"] = relaxation.to;
  if (!relaxation.nodes.empty()) json["nodes"] = relaxation.nodes;
  json["text"] = relaxation.text;
  json["command"] = relaxation.command.line;
  json["restarts"] = relaxation.command.restarts;
  return json;
}

Json ToJson(const Obstacle& obstacle) {
  return {{"reason", obstacle.reason},
          {"message", obstacle.message},
          {"advice", obstacle.advice},
          {"command", obstacle.command.line},
          {"restarts", obstacle.command.restarts}};
}

Json ToJson(const Line& line) {
  const auto own = line.jobs.begin() + static_cast<std::ptrdiff_t>(line.position) - 1;
  return {{"queue", line.queue},
          {"position", line.position},
          {"waiting", line.jobs.size()},
          {"before", std::vector<std::string>(line.jobs.begin(), own)},
          {"starts", line.starts}};
}

template <typename T>
Json ArrayOf(const std::vector<T>& list);

Json ToJson(const Explanation::Plan& plan) {
  Json json = ToJson(plan.evictions);
  json["cost"] = ToJson(plan.choice.chosen.cost);
  json["alternatives"] = ArrayOf(plan.choice.others);
  json["protected"] = ArrayOf(plan.choice.kept);
  return json;
}

template <typename T>
Json ArrayOf(const std::vector<T>& list) {
  Json json = Json::array();
  for (const T& entry : list) json.push_back(ToJson(entry));
  return json;
}

}  // namespace

std::string RenderJson(const Explanation& explanation) {
  const RunResult::Job& job = explanation.outcome;
  Json json = Json::object();
  json["job"] = explanation.job;
  if (!explanation.subject.empty()) {
    json["subject"] = {{"kind", explanation.subject_kind}, {"name", explanation.subject}};
  }
  json["sentence"] = FirstSentence(explanation);
  if (!explanation.notes.empty()) json["notes"] = explanation.notes;
  if (!explanation.obstacles.empty()) json["obstacles"] = ArrayOf(explanation.obstacles);
  const bool forecast = IsForecast(explanation);
  json["phase"] = forecast ? explanation.reality->phase : job.phase;
  json["allocatedHyperNode"] = forecast ? "" : job.allocated_hypernode;
  json["tier"] = forecast ? 0 : job.tier;
  if (forecast) {
    json["forecast"] = {{"allocatedHyperNode", job.allocated_hypernode}, {"tier", job.tier}};
  }
  if (const auto& reality = explanation.reality) {
    json["existing"] = {{"wantedPods", reality->wanted},
                        {"pods", reality->exist},
                        {"podsWithNode", reality->placed}};
  }
  json["reason"] = job.reason;
  json["message"] = job.message;
  json["cycle"] = explanation.cycle;
  json["searches"] = ArrayOf(explanation.searches);
  json["nearestMisses"] = ArrayOf(explanation.misses);
  json["queueHeldBy"] = ToJson(explanation.queue_holders);
  if (explanation.line) json["line"] = ToJson(*explanation.line);
  json["pods"] = ArrayOf(explanation.pods);
  json["evictions"] = ArrayOf(explanation.evictions);
  json["evictedFor"] = ArrayOf(explanation.evicted_for);
  json["relaxations"] = Json::array();
  json["tried"] = {{"changes", 0}, {"runningJobs", 0}, {"ofRunningJobs", explanation.holders}};
  if (explanation.relaxations) {
    json["relaxations"] = ArrayOf(explanation.relaxations->found);
    json["tried"]["changes"] = explanation.relaxations->solved;
    json["tried"]["runningJobs"] = explanation.relaxations->holders_tried;
  }
  return DumpPrettyJson(json) + "\n";
}

}  // namespace strata
