#include "nvml/render_probe.h"

#include <functional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/dump.h"
#include "nvml/node_annotations.h"

namespace strata::nvml {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const ProbedGpu& gpu) {
  Json json = {{"index", gpu.index},
               {"uuid", gpu.uuid},
               {"name", gpu.name},
               {"busId", gpu.bus_id},
               {"numa", gpu.numa ? Json(*gpu.numa) : Json()},
               {"memoryMiB", gpu.memory_mib ? Json(*gpu.memory_mib) : Json()},
               {"nvlinksUp", gpu.links ? Json(gpu.links->size()) : Json()}};
  if (!gpu.clique.empty()) json["clique"] = gpu.clique;
  return json;
}

using CellOf = std::function<std::string(std::size_t, std::size_t)>;

// A matrix with GPU indexes above and beside it.
std::string Matrix(const ProbeReport& report, const CellOf& cell_of) {
  std::string out = "     ";
  for (const ProbedGpu& gpu : report.gpus) {
    out += fmt::format("{:>10}", fmt::format("GPU{}", gpu.index));
  }
  out += '\n';
  for (std::size_t i = 0; i < report.gpus.size(); ++i) {
    out += fmt::format("{:<5}", fmt::format("GPU{}", report.gpus[i].index));
    for (std::size_t j = 0; j < report.gpus.size(); ++j) {
      out += fmt::format("{:>10}", i == j ? "X" : cell_of(i, j));
    }
    out += '\n';
  }
  return out;
}

}  // namespace

std::string RenderProbeJson(const ProbeReport& report) {
  Json json = {{"driver", report.driver}};
  json["gpus"] = Json::array();
  for (const ProbedGpu& gpu : report.gpus) json["gpus"].push_back(ToJson(gpu));
  const PairScores scores = report.links.Scores();
  json["links"] = Json::array();
  json["scores"] = Json::array();
  for (std::size_t i = 0; i < report.gpus.size(); ++i) {
    Json links = Json::array();
    Json row = Json::array();
    for (std::size_t j = 0; j < report.gpus.size(); ++j) {
      links.push_back(i == j ? "X" : ToString(report.links.At(i, j)));
      row.push_back(i == j || !scores.IsKnown(i, j) ? Json() : Json(scores.Get(i, j)));
    }
    json["links"].push_back(std::move(links));
    json["scores"].push_back(std::move(row));
  }
  const NodeGpus node = ToNodeGpus(report);
  json["annotations"] = {{kRegisterKey, RegisterText(node)}, {kScoreKey, ScoreText(node)}};
  json["problems"] = report.problems;
  return DumpPrettyJson(json) + "\n";
}

std::string RenderProbeTable(const ProbeReport& report) {
  std::string out = fmt::format("driver {}, {} GPU{}\n\n",
                                report.driver,
                                report.gpus.size(),
                                report.gpus.size() == 1 ? "" : "s");
  for (const ProbedGpu& gpu : report.gpus) {
    out += fmt::format("GPU{}  {}  {}  {}  numa {}  {} MiB  {} NVLinks up{}\n",
                       gpu.index,
                       gpu.uuid.empty() ? "(no UUID)" : gpu.uuid,
                       gpu.name,
                       gpu.bus_id,
                       gpu.numa ? std::to_string(*gpu.numa) : "?",
                       gpu.memory_mib ? std::to_string(*gpu.memory_mib) : "?",
                       gpu.links ? std::to_string(gpu.links->size()) : "?",
                       gpu.clique.empty() ? "" : "  clique " + gpu.clique);
  }
  const PairScores scores = report.links.Scores();
  out += "\nlinks\n" + Matrix(report, [&](std::size_t i, std::size_t j) {
           return ToString(report.links.At(i, j));
         });
  out += "\nscores\n" + Matrix(report, [&](std::size_t i, std::size_t j) {
           return scores.IsKnown(i, j) ? std::to_string(scores.Get(i, j)) : "?";
         });
  const NodeGpus node = ToNodeGpus(report);
  out += fmt::format(
      "\n{}: {}\n{}: {}\n", kRegisterKey, RegisterText(node), kScoreKey, ScoreText(node));
  if (!report.problems.empty()) out += "\nproblems\n";
  for (const std::string& problem : report.problems) out += "  " + problem + "\n";
  return out;
}

}  // namespace strata::nvml
