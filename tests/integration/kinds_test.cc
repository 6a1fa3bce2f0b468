// Each kind that the scheduler uses (objects/kinds.h) is complete: a failure names the place that
// lacks it. CONTRIBUTING.md, "A kind that the scheduler uses", has the list.
#include "objects/kinds.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apiserver/resources/resource.h"
#include "convert/cluster_feed.h"
#include "json/access.h"
#include "json/parse.h"
#include "objects/load.h"
#include "objects/yaml_to_json.h"
#include "schema/catalog.h"

namespace strata {
namespace {

using nlohmann::json;
using objects::Kind;
using objects::kKinds;
using objects::ObjectSet;

// The smallest object of each kind, behind apiVersion, kind and metadata.
const std::map<std::string_view, std::string_view> kSamples = {
    {"Namespace", ""},
    {"Node", R"(,"status":{"allocatable":{"cpu":"1","pods":"10"}})"},
    {"HyperNode",
     R"(,"spec":{"tier":1,"members":[{"type":"Node","selector":{"exactMatch":{"name":"n"}}}]})"},
    {"Numatopology", ""},
    {"CSINode", R"(,"spec":{"drivers":[]})"},
    {"StorageClass", R"(,"provisioner":"p")"},
    {"PersistentVolume",
     R"(,"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"]})"},
    {"PriorityClass", R"(,"value":1)"},
    {"Queue", R"(,"spec":{"weight":1})"},
    {"ResourceQuota", R"(,"spec":{"hard":{"cpu":"1"}})"},
    {"PodDisruptionBudget", R"(,"spec":{"minAvailable":1})"},
    {"PersistentVolumeClaim",
     R"(,"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}})"},
    {"PodGroup", R"(,"spec":{"minMember":1,"queue":"default"})"},
    {"Pod", R"(,"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i"}]})"},
};

std::vector<Kind> SchedulerKinds() {
  std::vector<Kind> kinds;
  for (const Kind& kind : kKinds) {
    if (kind.use == objects::Use::kScheduler) kinds.push_back(kind);
  }
  return kinds;
}

std::string NamespaceFor(const Kind& kind) {
  return kind.scope == objects::Scope::kNamespaced ? "ns" : "";
}

Result<ObjectSet> Load(const Kind& kind) {
  const auto sample = kSamples.find(kind.kind);
  if (sample == kSamples.end()) return Fail(Code::kNotFound, "no sample");
  std::string text = R"({"apiVersion":")" + ApiVersion(kind) + R"(","kind":")" +
                     std::string(kind.kind) + R"(","metadata":{"name":"x","uid":"u")";
  if (kind.scope == objects::Scope::kNamespaced) text += R"(,"namespace":"ns")";
  text += "}" + std::string(sample->second) + "}";
  const objects::Source source{.name = "sample", .text = std::move(text)};
  return objects::ParseObjects({&source, 1});
}

std::size_t Count(const ObjectSet& set, std::string_view kind) {
  std::size_t count = 0;
  objects::ForEachList(set, [&](std::string_view name, const auto& list) {
    if (name == kind) count = list.size();
  });
  return count;
}

std::string ReadAll(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return std::move(text).str();
}

std::vector<json> ParseYaml(std::string_view text) {
  std::vector<json> documents;
  const Result<std::vector<std::string>> texts = objects::YamlToJson(text);
  EXPECT_TRUE(texts) << (texts ? "" : texts.error().message);
  if (!texts) return documents;
  for (const std::string& document : *texts) documents.push_back(ParseJsonOrNull(document));
  return documents;
}

bool Holds(const json& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

TEST(SchedulerKind, HasARowForEachListAndAListForEachRow) {
  std::set<std::string_view> rows;
  for (const Kind& kind : kKinds) rows.insert(kind.kind);
  std::set<std::string_view> lists;
  const ObjectSet none;
  objects::ForEachList(none, [&](std::string_view kind, const auto&) { lists.insert(kind); });
  EXPECT_EQ(rows, lists) << "kKinds of src/objects/kinds.h and ForEachList of object_set.h differ";
}

TEST(SchedulerKind, IsLoaded) {
  for (const Kind& kind : SchedulerKinds()) {
    ASSERT_TRUE(kSamples.contains(kind.kind))
        << kind.kind << ": no sample in kSamples of tests/integration/kinds_test.cc";
    const Result<ObjectSet> loaded = Load(kind);
    ASSERT_TRUE(loaded) << kind.kind << ": ReadObject of src/objects: " << loaded.error().message;
    EXPECT_EQ(Count(*loaded, kind.kind), 1U) << kind.kind << ": ForEachList of object_set.h";
  }
}

TEST(SchedulerKind, IsPutIntoTheFeedAndRemovedFromIt) {
  for (const Kind& kind : SchedulerKinds()) {
    ClusterState state;
    ClusterFeed feed(state, [](const objects::Pod&) { return true; });
    Result<ObjectSet> loaded = Load(kind);
    ASSERT_TRUE(loaded) << kind.kind << ": " << loaded.error().message;
    const Status applied = feed.Apply(*std::move(loaded));
    ASSERT_TRUE(applied) << kind.kind << ": " << applied.error().message;
    EXPECT_EQ(Count(feed.Objects(), kind.kind), 1U)
        << kind.kind << ": Apply or Objects of src/convert/cluster_feed.cc";
    feed.Remove(kind.kind, NamespaceFor(kind), "x");
    EXPECT_EQ(Count(feed.Objects(), kind.kind), 0U)
        << kind.kind << ": Remove of src/convert/cluster_feed.cc";
  }
}

TEST(SchedulerKind, IsServed) {
  std::set<std::string> served;
  const auto name = [](std::string_view group, std::string_view version, std::string_view plural) {
    return std::string(group) + "/" + std::string(version) + "/" + std::string(plural);
  };
  for (const apiserver::Resource& row : apiserver::BuiltInResources()) {
    served.insert(name(row.group, row.version, row.plural));
  }
  for (const std::string_view text : schema::OwnDefinitions()) {
    for (const json& definition : ParseYaml(text)) {
      const json& spec = ObjectAt(definition, {"spec"});
      for (const json& version : ListAt(spec, {"versions"})) {
        served.insert(name(
            TextAt(spec, {"group"}), TextAt(version, {"name"}), TextAt(spec, {"names", "plural"})));
      }
    }
  }
  for (const Kind& kind : SchedulerKinds()) {
    EXPECT_TRUE(served.contains(name(kind.group, kind.version, kind.plural)))
        << kind.kind
        << ": neither in src/apiserver/resources/builtin_resources.cc nor in deploy/crds";
  }
}

TEST(SchedulerKind, MayBeListedAndWatchedByTheSchedulersRole) {
  const std::vector<json> objects = ParseYaml(ReadAll("deploy/chart/rbac/scheduler.yaml"));
  const auto allows = [&](const Kind& kind, std::string_view verb) {
    for (const json& object : objects) {
      if (TextAt(object, {"kind"}) != "ClusterRole") continue;
      for (const json& rule : ListAt(object, {"rules"})) {
        if (Holds(ListAt(rule, {"apiGroups"}), kind.group) &&
            Holds(ListAt(rule, {"resources"}), kind.plural) &&
            Holds(ListAt(rule, {"verbs"}), verb)) {
          return true;
        }
      }
    }
    return false;
  };
  for (const Kind& kind : SchedulerKinds()) {
    for (const char* verb : {"list", "watch"}) {
      EXPECT_TRUE(allows(kind, verb))
          << kind.kind << ": no " << verb << " in deploy/chart/rbac/scheduler.yaml";
    }
  }
}

TEST(SchedulerKind, IsDocumented) {
  const std::string page = ReadAll("docs/manifests.md");
  for (const Kind& kind : SchedulerKinds()) {
    EXPECT_NE(page.find(kind.kind), std::string::npos) << kind.kind << ": not in docs/manifests.md";
  }
}

}  // namespace
}  // namespace strata
