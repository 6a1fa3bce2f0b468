#include "local_cluster/manifests.h"

#include <iostream>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/manifest_judge.h"
#include "base/mutex.h"
#include "json/dump.h"
#include "objects/document.h"
#include "objects/load.h"
#include "objects/read_files.h"
#include "objects/value_to_json.h"

namespace strata {
namespace {

using Json = nlohmann::json;
using objects::Value;

constexpr int kMaxInFlight = 32;

// The kinds that the API server serves, asked for once per group and version.
class ServedKinds {
 public:
  explicit ServedKinds(kube::Client& client) : client_(client) {}

  Result<const ServedKind*> Find(const Manifest& manifest) {
    auto known = by_version_.find(manifest.api_version);
    if (known == by_version_.end()) {
      TRY_ASSIGN(auto kinds, Ask(manifest.api_version));
      known = by_version_.emplace(manifest.api_version, std::move(kinds)).first;
    }
    const auto served = known->second.find(manifest.kind);
    if (served != known->second.end()) return &served->second;
    return Fail(
        Code::kNotFound,
        fmt::format(
            "the server does not serve kind {} of {}", manifest.kind, manifest.api_version));
  }
  // Call it when definitions were created.
  void Forget() { by_version_.clear(); }

 private:
  using ByKind = std::map<std::string, ServedKind>;

  Result<ByKind> Ask(const std::string& api_version) {
    const bool core = api_version.find('/') == std::string::npos;
    kube::Call call;
    call.method = "GET";
    call.path = (core ? "/api/" : "/apis/") + api_version;
    const kube::Reply reply = client_.Do(std::move(call));
    if (!reply && reply.error().http_status == 404) return ByKind{};
    if (!reply) return tl::unexpected(reply.error().error);
    return ReadServedKinds(api_version, *reply);
  }

  kube::Client& client_;
  std::map<std::string, ByKind> by_version_;
};

// A call, and the object that messages name.
struct NamedCall {
  std::string name;
  kube::Call call;
};

enum class IfExists : std::uint8_t { kIgnore, kFail };

// Makes calls, at most `max_in_flight` at a time. The first failure is the error; calls that have
// not started by then are not made.
class Batch {
 public:
  Batch(kube::Client& client, std::vector<NamedCall> calls, IfExists if_exists)
      : client_(client), calls_(std::move(calls)), if_exists_(if_exists) {
    if (if_exists_ != IfExists::kIgnore) return;
    for (NamedCall& call : calls_) call.call.repeat = kube::Repeat::kHarmless;
  }

  Status Run(int max_in_flight) {
    MutexLock lock(mutex_);
    for (NamedCall& call : calls_) {
      while (in_flight_ >= max_in_flight) changed_.Wait(mutex_);
      if (failure_) break;
      ++in_flight_;
      lock.Unlock();
      client_.Start(std::move(call.call),
                    [this, &call](const kube::Reply& reply) { Finish(call.name, reply); });
      lock.Lock();
    }
    while (in_flight_ > 0) changed_.Wait(mutex_);
    if (failure_) return tl::unexpected(*failure_);
    return {};
  }

 private:
  void Finish(const std::string& name, const kube::Reply& reply) {
    const MutexLock lock(mutex_);
    --in_flight_;
    const bool ok = reply || (if_exists_ == IfExists::kIgnore && reply.error().AlreadyExists());
    if (!ok && !failure_) {
      failure_ = Error{reply.error().error.code, name + ": " + reply.error().error.message};
    }
    changed_.NotifyOne();
  }

  kube::Client& client_;
  std::vector<NamedCall> calls_;
  const IfExists if_exists_;
  Mutex mutex_;
  CondVar changed_;
  int in_flight_ GUARDED_BY(mutex_) = 0;
  std::optional<Error> failure_ GUARDED_BY(mutex_);
};

Status CreateNamespaces(kube::Client& client, const std::vector<Manifest>& manifests) {
  std::vector<NamedCall> calls;
  for (const std::string& name : NamespacesOf(manifests)) {
    const Json object = {
        {"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", Json::object({{"name", name}})}};
    calls.push_back(
        {"Namespace " + name, kube::CreateCall({kube::kNamespaces, "", "", ""}, DumpJson(object))});
  }
  return Batch(client, std::move(calls), IfExists::kIgnore).Run(kMaxInFlight);
}

}  // namespace

Result<Manifests> ReadManifests(const std::vector<std::string>& paths, objects::OnFault on_fault) {
  if (paths.empty()) return Manifests{};
  TRY_ASSIGN(const std::vector<objects::Source> sources, objects::ReadSources(paths, std::cin));
  // Reports what is invalid before anything is served.
  TRY_ASSIGN(objects::ObjectSet read,
             objects::ParseManifests(sources, admission::JudgeManifest, on_fault));
  Manifests manifests{.all = {}, .faults = std::move(read.faults)};
  for (const objects::Source& source : sources) {
    TRY(objects::ForEachDocument(source.name, source.text, [&](const Value& value) -> Status {
      for (Manifest& manifest : ManifestsOf(source.name, objects::ToJson(value))) {
        manifests.all.push_back(std::move(manifest));
      }
      return {};
    }));
  }
  return manifests;
}

Status ApplyManifests(kube::Client& client,
                      const std::vector<Manifest>& manifests,
                      objects::OnFault on_fault) {
  const FieldValidation validation =
      on_fault == objects::OnFault::kWarn ? FieldValidation::kWarn : FieldValidation::kStrict;
  TRY(CreateNamespaces(client, manifests));
  ServedKinds kinds(client);
  for (const ApplyWave& wave : ApplyOrder(manifests)) {
    std::vector<NamedCall> calls;
    for (const Manifest* manifest : wave.manifests) {
      const auto served = kinds.Find(*manifest);
      if (!served) {
        return Fail(served.error().code, NameOf(*manifest) + ": " + served.error().message);
      }
      calls.push_back({NameOf(*manifest), ApplyCall(**served, *manifest, validation)});
    }
    TRY(Batch(client, std::move(calls), IfExists::kFail).Run(wave.one_by_one ? 1 : kMaxInFlight));
    if (wave.defines_kinds) kinds.Forget();
  }
  return {};
}

Status CreateGenerated(kube::Client& client, const virtual_nodes::GenerateSpec& spec, Time now) {
  std::vector<NamedCall> calls;
  for (auto& object : virtual_nodes::GenerateCluster(spec, now)) {
    calls.push_back({std::move(object.name),
                     kube::CreateCall({object.resource, "", "", ""}, std::move(object.body))});
  }
  return Batch(client, std::move(calls), IfExists::kIgnore).Run(kMaxInFlight);
}

}  // namespace strata
