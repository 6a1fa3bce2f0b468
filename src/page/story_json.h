#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "explain/explain.h"
#include "sched/config.h"
#include "whatif/cluster.h"

// Stories and what-if as the texts of docs/page.md. Pure apart from `stop`.
namespace strata::page {

// A cluster at one moment, for questions that take longer than a look.
class StoryCase {
 public:
  StoryCase(objects::ObjectSet raw, TakesPod takes, SchedulerConfig config, Time now)
      : raw_(std::move(raw)), takes_(std::move(takes)), config_(std::move(config)), now_(now) {}

  [[nodiscard]] const objects::ObjectSet& raw() const { return raw_; }
  [[nodiscard]] const TakesPod& takes() const { return takes_; }
  [[nodiscard]] const SchedulerConfig& config() const { return config_; }
  [[nodiscard]] Time now() const { return now_; }
  // Made once. From any thread.
  [[nodiscard]] const Result<CompletedObjects>& Completed() const;

 private:
  const objects::ObjectSet raw_;
  const TakesPod takes_;
  const SchedulerConfig config_;
  const Time now_;
  mutable std::once_flag once_;
  mutable std::optional<Result<CompletedObjects>> completed_;
};

// The story of a job ("namespace/podgroup"), as `strata explain -o json` tells it, with what
// docs/page.md adds. `early` is called with the story of a job that waits before changes that would
// help are tried. kUnavailable when it was stopped.
using OnStory = std::function<void(std::string json)>;
[[nodiscard]] Result<std::string> TellStory(const StoryCase& now,
                                            const std::string& job,
                                            const OnStory& early,
                                            const std::stop_token& stop);

// What somebody asks of the cluster: objects that are not there yet.
struct WhatIfRequest {
  objects::ObjectSet added;
  std::string job;  // "namespace/name" of the first that was added
};
// Reads the body of a request: {"yaml": ...}, or {"pods", "pod", "mode", "highestTierAllowed",
// "queue", "namespace"}. kInvalidArgument, one sentence.
[[nodiscard]] Result<WhatIfRequest> ReadWhatIf(std::string_view body);

// What the scheduler would decide about these objects, as `strata simulate -o json` says it, and
// the story of the first job. COST: a copy and a load of all objects, and the cycles.
[[nodiscard]] Result<std::string> TellWhatIf(const StoryCase& now, const WhatIfRequest& request);

}  // namespace strata::page
