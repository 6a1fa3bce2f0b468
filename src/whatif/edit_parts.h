#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "whatif/cluster.h"

// The parts of edit.h, one file each.
namespace strata {

// "no node of the name nod-3; similar names: node-3, node-4, node-5".
[[nodiscard]] tl::unexpected<Error> UnknownName(std::string_view what,
                                                std::string_view name,
                                                const std::vector<std::string>& known);

// --add
struct AddSpec {
  std::int64_t nodes = 0;  // of each rack
  std::optional<std::int64_t> racks;
  std::string like;
  std::string under;
  std::optional<std::int64_t> gpus;  // plain ones
  std::optional<Quantity> cpu;
  std::optional<Quantity> memory;
};
[[nodiscard]] Result<AddSpec> ParseAdd(std::string_view text);
[[nodiscard]] Result<std::string> AddNodes(const AddSpec& spec, CompletedObjects& objects);

// --scale
struct ScaleSpec {
  std::string job;
  std::string task;  // "" for the only one
  std::int32_t count = 0;
};
[[nodiscard]] Result<ScaleSpec> ParseScale(std::string_view text);
// `group` is the PodGroup of the job.
[[nodiscard]] Result<std::string> ScaleJob(const ScaleSpec& spec,
                                           const std::string& group,
                                           CompletedObjects& objects);

// --set: "QUEUE.FIELD=VALUE", where the queue's name may have dots.
[[nodiscard]] Status CheckSet(std::string_view text);
[[nodiscard]] Result<std::string> SetQueueField(std::string_view text, CompletedObjects& objects);

}  // namespace strata
