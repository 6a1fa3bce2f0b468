#include "page/audience.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "json/dump.h"

namespace strata::page {

std::string Audience::Follow(const ClusterColumns& all,
                             const Stamp& stamp,
                             const Namespaces& known,
                             Pictures::Update::Kind kind) {
  ClusterColumns columns = HideJobs(all, scope_, known);
  std::string change;
  if (kind == Pictures::Update::Kind::kChange) {
    change = RenderChange(columns_, columns, stamp);
    // A revision in which nothing differs for them is told, too: they are counted for everybody.
    if (change.empty()) {
      const nlohmann::ordered_json same = {{"epoch", stamp.epoch},
                                           {"revision", stamp.revision},
                                           {"time", FormatTimestamp(stamp.time)}};
      change = DumpJson(same);
    }
  }
  columns_ = std::move(columns);
  text_.reset();
  return change;
}

std::shared_ptr<const Pictures::Text> Audience::Cluster(const Stamp& stamp) {
  if (!text_) text_ = MakeText(columns_, stamp);
  return text_;
}

}  // namespace strata::page
