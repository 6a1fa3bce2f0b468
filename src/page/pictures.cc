#include "page/pictures.h"

#include <utility>

#include <fmt/format.h>

#include "net/gzip.h"

namespace strata::page {

Pictures::Update Pictures::Follow(const ClusterFeed& feed, Time now) {
  ClusterColumns columns = maker_.Make(feed);
  const bool goes_on = columns_ && HaveSameLayout(*columns_, columns) &&
                       !maker_.IsWasteful(feed.state().workload().jobs().size());
  Stamp next{.epoch = stamp_.epoch, .revision = stamp_.revision + 1, .time = now};
  Update update;
  if (goes_on) {
    update.change = RenderChange(*columns_, columns, next);
    if (update.change.empty()) return update;
    update.kind = Update::Kind::kChange;
  } else {
    maker_.ForgetJobs();
    columns = maker_.Make(feed);
    ++next.epoch;
    update.kind = Update::Kind::kEpoch;
  }
  columns_ = std::move(columns);
  stamp_ = next;
  text_.reset();
  return update;
}

std::shared_ptr<const Pictures::Text> Pictures::Cluster() {
  if (!text_) text_ = MakeText(*columns_, stamp_);
  return text_;
}

std::shared_ptr<const Pictures::Text> MakeText(const ClusterColumns& columns, const Stamp& stamp) {
  auto text = std::make_shared<Pictures::Text>();
  text->plain = RenderCluster(columns, stamp);
  text->gzipped = net::Gzip(text->plain);
  return text;
}

std::string EntityTag(const Stamp& stamp) {
  return fmt::format("\"{}-{}\"", stamp.epoch, stamp.revision);
}

}  // namespace strata::page
