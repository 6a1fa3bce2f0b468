#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/ascii.h"
#include "whatif/edit_parts.h"

namespace strata {
namespace {

constexpr std::string_view kSetShape =
    "QUEUE.FIELD=VALUE with FIELD weight, priority, parent, reclaimable, state, or capability, "
    "deserved or guarantee with a resource, as in research.capability.nvidia.com/gpu=64";
constexpr std::int64_t kMaxWeight = 65535;

// ".weight" of "research.weight" begins there: the names of queues may have dots, too.
struct Setting {
  std::string_view queue;
  std::string_view field;     // "capability"
  std::string_view resource;  // "nvidia.com/gpu"; "" where the field takes none
  std::string_view value;
};

std::optional<Setting> ParseSetting(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const std::string_view name = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos;
       dot = name.find('.', dot + 1)) {
    const std::string_view rest = name.substr(dot + 1);
    for (const std::string_view field : {"weight", "priority", "parent", "reclaimable", "state"}) {
      if (rest == field && dot > 0) return Setting{name.substr(0, dot), field, {}, value};
    }
    for (const std::string_view field : {"capability", "deserved", "guarantee"}) {
      if (!rest.starts_with(field) || dot == 0) continue;
      const std::string_view resource = rest.substr(field.size());
      if (resource.size() < 2 || resource.front() != '.') continue;
      return Setting{name.substr(0, dot), field, resource.substr(1), value};
    }
  }
  return std::nullopt;
}

tl::unexpected<Error> BadValue(const Setting& setting, std::string_view wanted) {
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: bad value \"{}\" (want {})", setting.field, setting.value, wanted));
}

objects::ResourceList& ListOf(std::string_view field, objects::Queue& queue) {
  if (field == "capability") return queue.capability;
  return field == "deserved" ? queue.deserved : queue.guarantee;
}

// An amount, or "none", which takes it away.
Status SetAmount(const Setting& setting, objects::Queue& queue) {
  objects::ResourceList& list = ListOf(setting.field, queue);
  if (setting.value == "none") {
    list.erase(std::string(setting.resource));
    return {};
  }
  const Result<Quantity> amount = Quantity::Parse(setting.value);
  if (!amount || amount->IsNegative()) return BadValue(setting, "an amount such as 64, or none");
  list.insert_or_assign(std::string(setting.resource), *amount);
  return {};
}

Status SetNumber(const Setting& setting, std::int64_t min, std::int64_t max, std::int32_t& out) {
  const auto number = WholeNumber(setting.value, max);
  if (!number || *number < min) {
    return BadValue(setting, fmt::format("a number from {} to {}", min, max));
  }
  out = static_cast<std::int32_t>(*number);
  return {};
}

Status SetState(const Setting& setting, objects::Queue& queue) {
  for (const auto state : {objects::QueueState::kOpen, objects::QueueState::kClosed}) {
    if (LowerCase(setting.value) != LowerCase(objects::ToString(state))) continue;
    queue.state = state;
    return {};
  }
  return BadValue(setting, "Open or Closed");
}

Status Set(const Setting& setting, objects::Queue& queue) {
  if (!setting.resource.empty()) return SetAmount(setting, queue);
  if (setting.field == "weight") return SetNumber(setting, 1, kMaxWeight, queue.weight);
  if (setting.field == "priority") {
    return SetNumber(setting, 0, std::numeric_limits<std::int32_t>::max(), queue.priority);
  }
  if (setting.field == "state") return SetState(setting, queue);
  if (setting.field == "parent") {
    queue.parent = setting.value;
    return {};
  }
  if (setting.value != "true" && setting.value != "false") {
    return BadValue(setting, "true or false");
  }
  queue.reclaimable = setting.value == "true";
  return {};
}

}  // namespace

Status CheckSet(std::string_view text) {
  const auto setting = ParseSetting(text);
  if (!setting) {
    return Fail(Code::kInvalidArgument, fmt::format("\"{}\": want {}", text, kSetShape));
  }
  objects::Queue scratch;
  return Set(*setting, scratch);
}

Result<std::string> SetQueueField(std::string_view text, CompletedObjects& objects) {
  TRY(CheckSet(text));
  const Setting setting = *ParseSetting(text);
  std::vector<std::string> known;
  for (objects::Queue& queue : objects.objects.queues) {
    if (queue.meta.name != setting.queue) {
      known.push_back(queue.meta.name);
      continue;
    }
    TRY(Set(setting, queue));
    return fmt::format("queue {}", text);
  }
  return UnknownName("queue", setting.queue, known);
}

}  // namespace strata
