#include "replay/policies/told.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::replay {
namespace {

using Line = nlohmann::ordered_json;

Line ClusterLine(const Fabric& fabric, std::uint64_t seed) {
  Line line = {{"type", "cluster"}, {"seed", seed}};
  line["tiers"] = Line::array();
  for (const Fabric::Level& level : fabric.levels) {
    line["tiers"].push_back({{"tier", level.tier}, {"name", level.name}});
  }
  line["nodes"] = Line::array();
  for (NodeIndex node = 0; node < fabric.nodes.size(); ++node) {
    Line domains = Line::array();
    for (const Fabric::Level& level : fabric.levels) {
      const DomainIndex domain = level.of_node[node];
      domains.push_back(domain == Fabric::kNoDomain ? "" : level.domains[domain]);
    }
    line["nodes"].push_back({{"name", fabric.nodes[node].name},
                             {"gpus", fabric.nodes[node].gpus},
                             {"cpuMilli", fabric.nodes[node].cpu_milli},
                             {"memory", fabric.nodes[node].memory},
                             {"model", fabric.nodes[node].gpu_model},
                             {"domains", std::move(domains)}});
  }
  return line;
}

const char* WordOf(Wish wish) {
  if (wish == Wish::kHard) return "hard";
  return wish == Wish::kSoft ? "soft" : "none";
}

class ToldPolicy final : public Policy {
 public:
  ToldPolicy(SayLine say, const Workload& workload, const Fabric& fabric)
      : say_(std::move(say)), workload_(workload), fabric_(fabric) {
    for (NodeIndex node = 0; node < fabric.nodes.size(); ++node) {
      index_.emplace(fabric.nodes[node].name, node);
    }
  }

  Status Open(std::uint64_t seed) {
    TRY(say_(DumpJson(ClusterLine(fabric_, seed)), Answer::kNone));
    return {};
  }

  std::vector<NodeIndex> Place(const PlaceJob& job, Room& room) override {
    if (problem_) return {};
    auto nodes = Ask(job, room);
    if (nodes) return std::move(*nodes);
    problem_ = std::move(nodes.error());
    return {};
  }

  void End(std::uint32_t job) override {
    if (problem_) return;
    const auto said = say_(DumpJson(Line{{"type", "end"}, {"job", job}}), Answer::kNone);
    if (!said) problem_ = said.error();
  }

  [[nodiscard]] Status Problem() const override {
    return problem_ ? Status(tl::unexpected<Error>(*problem_)) : Status();
  }

 private:
  Result<std::vector<NodeIndex>> Ask(const PlaceJob& job, Room& room) {
    const JobClass& wanted = *job.job_class;
    Line line = {{"type", "place"},
                 {"job", job.job},
                 {"now", SecondsText(job.now)},
                 {"pods", wanted.pods},
                 {"gpus", wanted.pod.gpus},
                 {"lastGpus", wanted.last.gpus},
                 {"cpuMilli", wanted.pod.cpu_milli},
                 {"memory", wanted.pod.memory},
                 {"priority", workload_.jobs[job.job].priority},
                 {"queue", wanted.queue},
                 {"mode", WordOf(wanted.wish)}};
    if (wanted.wish == Wish::kHard) line["tier"] = fabric_.TierOf(wanted.max_level);
    TRY_ASSIGN(const std::string answer, say_(DumpJson(line), Answer::kWanted));
    auto parsed = ParseJson(answer);
    if (!parsed) return tl::unexpected<Error>(std::move(parsed.error()).Context("answer"));
    return ReadNodes(job, *parsed, room);
  }

  Result<std::vector<NodeIndex>> ReadNodes(const PlaceJob& job,
                                           const nlohmann::json& answer,
                                           Room& room) const {
    const JobClass& wanted = *job.job_class;
    const nlohmann::json* names = FindAt(answer, {"nodes"});
    if (names == nullptr || !names->is_array()) return Wrong(job, "want a list \"nodes\"");
    if (names->empty()) return std::vector<NodeIndex>();
    if (names->size() != static_cast<std::size_t>(wanted.pods)) {
      return Wrong(job, fmt::format("{} nodes for {} pods", names->size(), wanted.pods));
    }
    std::vector<NodeIndex> nodes;
    std::optional<std::string> wrong;
    for (const nlohmann::json& name : *names) {
      const auto node = name.is_string() ? index_.find(name.get<std::string>()) : index_.end();
      if (node == index_.end()) {
        wrong = "unknown node " + DumpJson(name);
        break;
      }
      const PodShape& pod = wanted.ShapeOf(static_cast<std::int32_t>(nodes.size()));
      if (!wanted.Accepts(node->second) || !room.Fits(node->second, pod)) {
        wrong = fmt::format("{} has no room for its pod {}", node->first, nodes.size());
        break;
      }
      room.Take(node->second, pod);
      nodes.push_back(node->second);
    }
    for (std::size_t rank = nodes.size(); rank-- > 0;) {
      room.Give(nodes[rank], wanted.ShapeOf(static_cast<std::int32_t>(rank)));
    }
    if (!wrong && wanted.wish == Wish::kHard && !InOneDomain(nodes, wanted.max_level, room)) {
      wrong =
          fmt::format("its nodes are in no domain of tier {}", fabric_.TierOf(wanted.max_level));
    }
    if (wrong) return Wrong(job, *wrong);
    return nodes;
  }

  static bool InOneDomain(const std::vector<NodeIndex>& nodes,
                          std::size_t level,
                          const Room& room) {
    for (const NodeIndex node : nodes) {
      const DomainIndex domain = room.DomainOf(level, node);
      if (domain == Fabric::kNoDomain || domain != room.DomainOf(level, nodes.front())) {
        return false;
      }
    }
    return true;
  }

  static tl::unexpected<Error> Wrong(const PlaceJob& job, std::string_view what) {
    return Fail(Code::kInvalidArgument, fmt::format("answer about job {}: {}", job.job, what));
  }

  SayLine say_;
  const Workload& workload_;
  const Fabric& fabric_;
  std::map<std::string, NodeIndex, std::less<>> index_;
  std::optional<Error> problem_;
};

}  // namespace

Result<std::unique_ptr<Policy>> MakeToldPolicy(SayLine say,
                                               const Workload& workload,
                                               const Fabric& fabric,
                                               std::uint64_t seed) {
  auto policy = std::make_unique<ToldPolicy>(std::move(say), workload, fabric);
  TRY(policy->Open(seed));
  return Result<std::unique_ptr<Policy>>(std::move(policy));
}

}  // namespace strata::replay
