#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "page/cluster_columns.h"
#include "page/columns_json.h"

namespace strata::page {

// The picture of the cluster that viewers have, and its texts. For one thread.
class Pictures {
 public:
  // Every epoch is above `before`: a number that grows from one process to the next keeps viewers
  // of the last process from taking this one's positions for its own.
  explicit Pictures(std::int64_t before) : stamp_{.epoch = before} {}

  // What viewers have to be told.
  struct Update {
    enum class Kind : std::uint8_t { kNothing, kChange, kEpoch } kind = Kind::kNothing;
    std::string change;  // the data
  };
  // Looks at the cluster. REQUIRES: as ColumnsMaker::Make.
  [[nodiscard]] Update Follow(const ClusterFeed& feed, Time now);

  // The answer of `cluster`. COST: made once per revision, and only if somebody asks.
  struct Text {
    std::string plain;
    std::string gzipped;
  };
  [[nodiscard]] std::shared_ptr<const Text> Cluster();

  [[nodiscard]] const Stamp& stamp() const { return stamp_; }
  // The position of a job ("namespace/podgroup") in the columns; kNowhere if it has none.
  [[nodiscard]] Place PlaceOfJob(std::string_view name) const { return maker_.PlaceOfJob(name); }
  // REQUIRES: Follow was called.
  [[nodiscard]] const ClusterColumns& columns() const { return *columns_; }

 private:
  ColumnsMaker maker_;
  Stamp stamp_;
  std::optional<ClusterColumns> columns_;
  std::shared_ptr<const Text> text_;  // of this revision
};

// The answer of `cluster` for these columns.
[[nodiscard]] std::shared_ptr<const Pictures::Text> MakeText(const ClusterColumns& columns,
                                                             const Stamp& stamp);

// "3-17": of the `cluster` answer.
[[nodiscard]] std::string EntityTag(const Stamp& stamp);

}  // namespace strata::page
