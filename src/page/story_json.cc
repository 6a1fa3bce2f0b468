#include "page/story_json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "convert/specs.h"
#include "explain/render_explain.h"
#include "json/dump.h"
#include "json/parse.h"
#include "page/cluster_columns.h"

namespace strata::page {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Adds to each score how much each plugin gave.
void AddPlugins(const Explanation& story, OrderedJson& json) {
  for (std::size_t s = 0; s < story.searches.size(); ++s) {
    for (std::size_t t = 0; t < story.searches[s].tiers.size(); ++t) {
      const Explanation::Tier& tier = story.searches[s].tiers[t];
      OrderedJson& scores = json["searches"][s]["tiers"][t]["scores"];
      for (std::size_t i = 0; i < tier.scores.size(); ++i) {
        OrderedJson& plugins = scores[i]["plugins"] = OrderedJson::object();
        for (const auto& [plugin, by_name] : tier.by_plugin) {
          const auto found = by_name.find(tier.scores[i].first);
          if (found != by_name.end()) plugins[plugin] = ToDouble(found->second);
        }
      }
    }
  }
}

OrderedJson StoryJson(const Explanation& story) {
  OrderedJson json = ParseOrderedJsonOrNull(RenderJson(story));
  AddPlugins(story, json);
  if (!story.relaxations) return json;
  const std::vector<Relaxation>& found = story.relaxations->found;
  for (std::size_t i = 0; i < found.size(); ++i) json["relaxations"][i]["binds"] = found[i].binds;
  return json;
}

std::string Stamped(OrderedJson json, Time as_of, std::string_view state) {
  json["asOf"] = FormatTimestamp(as_of);
  json["state"] = state;
  if (!json.contains("source")) json["source"] = "verdict";
  return DumpJson(json) + "\n";
}

std::optional<Time> TimeOfBind(const objects::Pod& pod) {
  const auto* bound = objects::FindCondition(pod.status.conditions, "PodScheduled");
  return bound != nullptr && bound->status == "True" ? bound->last_transition : std::nullopt;
}

// The cluster without the pods that were bound after the job's own.
CompletedObjects BeforeOthers(const CompletedObjects& now, const std::string& job) {
  std::optional<Time> last;
  for (const objects::Pod& pod : now.objects.pods) {
    if (GroupOf(pod) != job) continue;
    if (const auto bound = TimeOfBind(pod)) last = std::max(last.value_or(*bound), *bound);
  }
  CompletedObjects before = now;
  if (!last) return before;
  std::erase_if(before.objects.pods, [&](const objects::Pod& pod) {
    if (pod.spec.node_name.empty() || GroupOf(pod) == job) return false;
    const auto bound = TimeOfBind(pod);
    return bound && *bound > *last;
  });
  return before;
}

// Whether the run puts the job where it is: pods of a job may change places.
bool Agrees(const CompletedObjects& now, const std::string& job, const Explanation& again) {
  std::vector<std::string> is;
  for (const objects::Pod& pod : now.objects.pods) {
    if (GroupOf(pod) == job && !pod.spec.node_name.empty()) is.push_back(pod.spec.node_name);
  }
  std::vector<std::string> would;
  for (const Explanation::Pod& pod : again.pods) would.push_back(pod.node);
  std::sort(is.begin(), is.end());
  std::sort(would.begin(), would.end());
  return is == would;
}

// Jobs are not watched: their PodGroups say what they are called.
void NameJobs(CompletedObjects& objects) {
  for (const objects::PodGroup& group : objects.objects.pod_groups) {
    const std::string name = NameOfJob(group);
    if (name == group.meta.name) continue;
    objects.group_of_job.try_emplace(group.meta.ns + "/" + name,
                                     objects::NamespacedName(group.meta));
  }
}

}  // namespace

const Result<CompletedObjects>& StoryCase::Completed() const {
  std::call_once(once_, [this] {
    completed_.emplace(CompleteObjects(raw_, takes_));
    if (*completed_) NameJobs(**completed_);
  });
  return *completed_;
}

Result<std::string> TellStory(const StoryCase& now,
                              const std::string& job,
                              const OnStory& early,
                              const std::stop_token& stop) {
  const Result<CompletedObjects>& objects = now.Completed();
  if (!objects) return tl::unexpected<Error>(objects.error());
  ExplainQuery query;
  query.objects = &*objects;
  query.config = &now.config();
  query.options.now = now.now();
  query.job = job;
  query.stop = stop;
  query.source = ExplainQuery::Source::kRunningCluster;
  if (early) {
    query.early = [&](const Explanation& story) {
      early(Stamped(StoryJson(story), now.now(), "computing"));
    };
  }
  TRY_ASSIGN(const Explanation story, ExplainJob(query));
  OrderedJson json = StoryJson(story);
  if (WasPlacedEarlier(story)) {
    const CompletedObjects before = BeforeOthers(*objects, job);
    query.objects = &before;
    query.early = {};
    query.source = ExplainQuery::Source::kManifests;
    TRY_ASSIGN(const Explanation again, ExplainPlacedAgain(query));
    json["source"] = "replay";
    json["agrees"] = Agrees(*objects, job, again);
    json["replay"] = StoryJson(again);
  }
  return Stamped(std::move(json), now.now(), "done");
}

}  // namespace strata::page
