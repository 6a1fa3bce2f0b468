#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/fgd/fill.h"
#include "report/text.h"

// The figures of the study as table and JSON, beside those that were published.
namespace strata::replay::fgd {

struct FillRun {
  std::size_t list = 0;  // of FillReport::lists
  RuleInfo rule{};
  std::uint64_t seed = 0;
  FillResult result;
};

struct FillReport {
  struct List {
    std::string name;  // "default"
    std::string sha256;
    std::int64_t pods = 0;
    std::int64_t kinds = 0;
    std::int64_t typical = 0;  // kinds that stand for 95 % of the pods
    double asked = 0;          // GPUs that the list asks for, of the capacity
  };
  // One line of what the authors published, in per cent.
  struct Published {
    std::string list;
    std::string rule;  // "FGD"
    std::int64_t load = 0;
    double allocated = 0;
    double deviation = 0;
    double fragmented = 0;
  };
  std::string version;
  std::string cluster;
  std::string cluster_sha256;
  std::int64_t nodes = 0;
  std::int64_t gpus = 0;
  double target = 1.3;
  std::vector<List> lists;
  std::vector<FillRun> runs;  // by list, rule and seed
  std::vector<Published> published;
};

// What the runs of one rule on one list come to when the target was reached, in per cent.
struct FillRow {
  std::string list;
  RuleInfo rule{};
  std::int64_t seeds = 0;
  double allocated = 0;  // means over seeds
  double deviation = 0;  // of `allocated`, over seeds
  double fragmented = 0;
  std::optional<FillReport::Published> published = {};
  std::vector<FillPoint> curve;  // by per cent asked for; means over seeds
};
[[nodiscard]] std::vector<FillRow> RowsOf(const FillReport& report);

// "default" of "data/openb_pod_list_default.csv.gz": the last word of the name of the file.
[[nodiscard]] std::string ListNameOf(std::string_view path);

// "pod_list,policy,seeds,load_pct,alloc_pct_mean,alloc_pct_sd,frag_pct_of_capacity_mean,...".
[[nodiscard]] Result<std::vector<FillReport::Published>> ReadPublished(std::string_view path,
                                                                       std::string_view text);

[[nodiscard]] std::string RenderFillTable(const FillReport& report, const TextStyle& style);
[[nodiscard]] std::string RenderFillJson(const FillReport& report);

}  // namespace strata::replay::fgd
