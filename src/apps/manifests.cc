#include "apps/manifests.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "objects/document.h"
#include "objects/load.h"
#include "objects/read_files.h"

namespace strata {
namespace {

using Json = nlohmann::json;
using objects::Value;

constexpr int kAtATime = 32;
constexpr const char* kManager = "strata-up";

Json ToJson(const Value& value) {
  switch (value.type()) {
    case Value::Type::kNull:
      return nullptr;
    case Value::Type::kBool:
      return value.AsBool();
    case Value::Type::kInteger:
      return value.AsInteger();
    case Value::Type::kNumber:
      return value.AsNumber();
    case Value::Type::kString:
      return value.AsString();
    case Value::Type::kArray: {
      Json list = Json::array();
      for (const Value& item : value.Items()) list.push_back(ToJson(item));
      return list;
    }
    case Value::Type::kObject: {
      Json object = Json::object();
      for (const Value::Member& member : value.Members()) {
        object[std::string(member.key)] = ToJson(member.value);
      }
      return object;
    }
  }
  return nullptr;
}

std::string TextIn(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void AddManifest(const std::string& origin, Json body, std::vector<Manifest>& out) {
  if (!body.is_object()) return;
  const std::string kind = TextIn(body, "kind");
  const auto items = body.find("items");
  if (kind.ends_with("List") && items != body.end() && items->is_array()) {
    for (Json& item : *items) AddManifest(origin, std::move(item), out);
    return;
  }
  Manifest manifest{.origin = origin,
                    .api_version = TextIn(body, "apiVersion"),
                    .kind = kind,
                    .space = {},
                    .name = {},
                    .body = {}};
  if (const auto meta = body.find("metadata"); meta != body.end() && meta->is_object()) {
    manifest.name = TextIn(*meta, "name");
    manifest.space = TextIn(*meta, "namespace");
  }
  manifest.body = body.dump();
  out.push_back(std::move(manifest));
}

// Where the API server keeps objects of a kind.
struct Place {
  std::string group;
  std::string version;
  std::string plural;
  bool namespaced = true;
};

// What the API server says of its kinds, asked once per group and version.
class Kinds {
 public:
  explicit Kinds(kube::Client& client) : client_(client) {}

  Result<const Place*> Find(const Manifest& manifest) {
    auto known = groups_.find(manifest.api_version);
    if (known == groups_.end()) {
      TRY_ASSIGN(auto kinds, Ask(manifest.api_version));
      known = groups_.emplace(manifest.api_version, std::move(kinds)).first;
    }
    const auto place = known->second.find(manifest.kind);
    if (place != known->second.end()) return &place->second;
    return Fail(Code::kNotFound,
                fmt::format("no kind {} of {} is served", manifest.kind, manifest.api_version));
  }
  // New definitions may have come.
  void Forget() { groups_.clear(); }

 private:
  using ByKind = std::map<std::string, Place>;

  Result<ByKind> Ask(const std::string& api_version) {
    const std::size_t slash = api_version.find('/');
    const bool core = slash == std::string::npos;
    kube::Call call;
    call.method = "GET";
    call.path = (core ? "/api/" : "/apis/") + api_version;
    const kube::Reply reply = client_.Do(std::move(call));
    if (!reply && reply.error().http_status == 404) return ByKind{};
    if (!reply) return tl::unexpected(reply.error().error);
    const Json list = Json::parse(*reply, nullptr, false);
    ByKind kinds;
    const auto resources = list.find("resources");
    if (resources == list.end() || !resources->is_array()) return kinds;
    for (const Json& resource : *resources) {
      const std::string plural = TextIn(resource, "name");
      if (plural.find('/') != std::string::npos) continue;
      const auto namespaced = resource.find("namespaced");
      kinds[TextIn(resource, "kind")] = {
          .group = core ? "" : api_version.substr(0, slash),
          .version = core ? api_version : api_version.substr(slash + 1),
          .plural = plural,
          .namespaced = namespaced != resource.end() && *namespaced == Json(true)};
    }
    return kinds;
  }

  kube::Client& client_;
  std::map<std::string, ByKind> groups_;
};

// What others need comes first: definitions, namespaces, what jobs refer to, jobs, pods.
int Rank(const Manifest& manifest) {
  constexpr std::array<std::pair<std::string_view, int>, 7> kRanks = {{
      {"CustomResourceDefinition", 0},
      {"Namespace", 1},
      {"PriorityClass", 1},
      {"Queue", 2},
      {"PodGroup", 4},
      {"Job", 5},
      {"Pod", 6},
  }};
  constexpr int kOthers = 3;
  for (const auto& [kind, rank] : kRanks) {
    if (kind == manifest.kind) return rank;
  }
  return kOthers;
}
constexpr int kDefinitionRank = 0;
constexpr int kQueueRank = 2;  // one after the other: a queue may be another's parent

std::string NameOf(const Manifest& manifest) {
  return fmt::format("{}: {} {}{}{}",
                     manifest.origin,
                     manifest.kind,
                     manifest.space,
                     manifest.space.empty() ? "" : "/",
                     manifest.name);
}

// A call, and what messages name it by.
struct NamedCall {
  std::string name;
  kube::Call call;
};

Result<NamedCall> ApplyCall(Kinds& kinds, const Manifest& manifest) {
  const auto place = kinds.Find(manifest);
  if (!place) return Fail(place.error().code, NameOf(manifest) + ": " + place.error().message);
  const Place& where = **place;
  const std::string space = manifest.space.empty() ? "default" : manifest.space;
  const kube::ResourcePath path{
      {where.group,
       where.version,
       where.plural,
       manifest.kind,
       where.namespaced ? kube::Resource::Scope::kNamespaced : kube::Resource::Scope::kCluster},
      where.namespaced ? space : "",
      manifest.name,
      ""};
  // generateName: there is nothing yet to be applied to.
  if (manifest.name.empty()) {
    return NamedCall{NameOf(manifest), kube::CreateCall(path, manifest.body)};
  }
  return NamedCall{NameOf(manifest),
                   kube::PatchCall(path,
                                   {.type = kube::PatchType::kApply,
                                    .field_manager = kManager,
                                    .force = kube::PatchOptions::Force::kYes},
                                   manifest.body)};
}

enum class Existing : std::uint8_t { kIsFine, kIsAnError };

// Carries calls out, some at a time. The first that fails is the error; the others are not started
// then.
class Batch {
 public:
  Batch(kube::Client& client, std::vector<NamedCall> calls, Existing existing)
      : client_(client), calls_(std::move(calls)), existing_(existing) {
    if (existing_ != Existing::kIsFine) return;
    for (NamedCall& call : calls_) call.call.repeat = kube::Repeat::kHarmless;
  }

  Status Run(int at_a_time) {
    std::unique_lock lock(mutex_);
    for (NamedCall& call : calls_) {
      changed_.wait(lock, [&] { return under_way_ < at_a_time; });
      if (failure_) break;
      ++under_way_;
      lock.unlock();
      client_.Start(std::move(call.call),
                    [this, &call](const kube::Reply& reply) { Finish(call.name, reply); });
      lock.lock();
    }
    changed_.wait(lock, [&] { return under_way_ == 0; });
    if (failure_) return tl::unexpected(*failure_);
    return {};
  }

 private:
  void Finish(const std::string& name, const kube::Reply& reply) {
    const std::lock_guard lock(mutex_);
    --under_way_;
    const bool fine = reply || (existing_ == Existing::kIsFine && reply.error().AlreadyExists());
    if (!fine && !failure_) {
      failure_ = Error{reply.error().error.code, name + ": " + reply.error().error.message};
    }
    changed_.notify_one();
  }

  kube::Client& client_;
  std::vector<NamedCall> calls_;
  const Existing existing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int under_way_ = 0;
  std::optional<Error> failure_;
};

// Those that objects are in and nobody gives.
Status MakeNamespaces(kube::Client& client, const std::vector<Manifest>& manifests) {
  std::set<std::string> spaces;
  for (const Manifest& manifest : manifests) spaces.insert(manifest.space);
  spaces.erase("");
  std::vector<NamedCall> calls;
  for (const std::string& space : spaces) {
    const Json object = {
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Json::object({{"name", space}})}};
    calls.push_back(
        {"Namespace " + space, kube::CreateCall({kube::kNamespaces, "", "", ""}, object.dump())});
  }
  return Batch(client, std::move(calls), Existing::kIsFine).Run(kAtATime);
}

}  // namespace

Result<std::vector<Manifest>> ReadManifests(const std::vector<std::string>& paths) {
  if (paths.empty()) return std::vector<Manifest>{};
  TRY_ASSIGN(const std::vector<objects::Source> sources, objects::ReadSources(paths, std::cin));
  TRY(objects::ParseObjects(sources));  // says what is wrong, before anything serves
  std::vector<Manifest> manifests;
  for (const objects::Source& source : sources) {
    TRY(objects::ForEachDocument(source.name, source.text, [&](const Value& value) -> Status {
      AddManifest(source.name, ToJson(value), manifests);
      return {};
    }));
  }
  return manifests;
}

Status ApplyManifests(kube::Client& client, const std::vector<Manifest>& manifests) {
  TRY(MakeNamespaces(client, manifests));
  std::map<int, std::vector<const Manifest*>> by_rank;
  for (const Manifest& manifest : manifests) by_rank[Rank(manifest)].push_back(&manifest);
  Kinds kinds(client);
  for (const auto& [rank, members] : by_rank) {
    std::vector<NamedCall> calls;
    for (const Manifest* manifest : members) {
      TRY_ASSIGN(NamedCall call, ApplyCall(kinds, *manifest));
      calls.push_back(std::move(call));
    }
    TRY(Batch(client, std::move(calls), Existing::kIsAnError)
            .Run(rank == kQueueRank ? 1 : kAtATime));
    if (rank == kDefinitionRank) kinds.Forget();
  }
  return {};
}

Status CreateGenerated(kube::Client& client, const virtual_nodes::GenerateSpec& spec, Time now) {
  std::vector<NamedCall> calls;
  for (auto& object : virtual_nodes::GenerateCluster(spec, now)) {
    calls.push_back({std::move(object.name),
                     kube::CreateCall({object.resource, "", "", ""}, std::move(object.body))});
  }
  return Batch(client, std::move(calls), Existing::kIsFine).Run(kAtATime);
}

}  // namespace strata
