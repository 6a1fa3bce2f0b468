#include "sched/plugins/binpack_weights.h"

#include <cstddef>
#include <utility>

#include "sched/plugins/argument_rules.h"

namespace strata {
namespace {

Amount At(std::span<const Amount> row, ResourceId id) {
  return id.index() < row.size() ? row[id.index()] : 0;
}

}  // namespace

Result<BinpackWeights> ReadBinpackWeights(const PluginConfig& config,
                                          std::string_view prefix,
                                          ResourceNames& names) {
  const Arguments& arguments = config.arguments;
  BinpackWeights read;
  const auto add = [&](std::string key, std::string_view resource) -> Status {
    TRY_ASSIGN(const std::int64_t weight,
               WeightArgument(arguments, key, 1, IfNegative::kUseDefault));
    read.known.push_back(std::move(key));
    if (weight != 0) {
      read.weights.push_back({names.Intern(resource), static_cast<double>(weight)});
    }
    return {};
  };
  const std::string start(prefix);
  TRY(add(start + ".cpu", "cpu"));
  TRY(add(start + ".memory", "memory"));

  const std::string list_key = start + ".resources";
  TRY_ASSIGN(const std::string list, arguments.String(list_key, ""));
  for (const std::string& resource : SplitList(list)) {
    if (resource == "cpu" || resource == "memory") continue;  // their weight has its own argument
    std::string key = list_key;
    TRY(add(key.append(".").append(resource), resource));
  }
  read.known.push_back(list_key);

  const std::vector<std::string_view> known(read.known.begin(), read.known.end());
  for (std::string& key : arguments.Unknown(known)) {
    if (!key.starts_with(list_key + ".")) continue;
    read.warnings.push_back(ArgumentWarning(
        config.name, key, "ignored, since " + list_key + " does not list the resource"));
    read.known.push_back(std::move(key));
  }
  return read;
}

std::optional<double> Fullness(std::span<const ResourceWeight> weights,
                               const Resources& request,
                               std::span<const Amount> used,
                               std::span<const Amount> allocatable,
                               IfNoneThere if_none_there) {
  const std::span<const Amount> requested = request.amounts();  // no weight is of an absent one
  double sum = 0;
  double weight_sum = 0;
  for (const auto& [resource, weight] : weights) {
    const Amount asked = At(requested, resource);
    if (asked <= 0) continue;
    weight_sum += weight;
    const Amount capacity = At(allocatable, resource);
    if (capacity <= 0 && if_none_there == IfNoneThere::kCountsAsEmpty) continue;
    Amount after = 0;  // minResources is anybody's number: the sum may leave 64 bits
    if (__builtin_add_overflow(At(used, resource), asked, &after)) return std::nullopt;
    if (after > capacity) return std::nullopt;
    sum += static_cast<double>(after) * weight / static_cast<double>(capacity);
  }
  return weight_sum > 0 ? sum / weight_sum : 0;
}

}  // namespace strata
