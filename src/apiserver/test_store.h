#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "apiserver/admission/admission.h"
#include "apiserver/resources/resource.h"
#include "apiserver/store/object_store.h"

// A store that only holds what a test puts in, and rows without schemas: for rules that read.
namespace strata::apiserver {

class TestStore final : public ObjectStore {
 public:
  void Hold(const std::string& resource, const nlohmann::json& object) {
    auto stored = std::make_shared<StoredObject>();
    stored->ns = object["metadata"].value("namespace", "");
    stored->name = object["metadata"].value("name", "");
    stored->version = ++version_;
    stored->body = object.dump();
    objects_[{resource, stored->ns, stored->name}] = stored;
  }

  void SetSelectableFields(const std::string& /*resource*/,
                           std::vector<std::string> /*paths*/) override {}
  [[nodiscard]] std::int64_t version() const override { return version_; }
  [[nodiscard]] ObjectRef Get(const ObjectKey& key) const override { return GetLatest(key); }
  [[nodiscard]] ObjectRef GetLatest(const ObjectKey& key) const override {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  [[nodiscard]] Snapshot List(const std::string& resource, const std::string& ns) const override {
    Snapshot snapshot{version_, {}};
    for (const auto& [key, object] : objects_) {
      if (key.resource == resource && (ns.empty() || key.ns == ns)) {
        snapshot.objects.push_back(object);
      }
    }
    return snapshot;
  }
  void VisitLatest(const std::string& resource,
                   const std::string& ns,
                   const std::function<bool(const StoredObject&)>& visit) const override {
    for (const ObjectRef& object : List(resource, ns).objects) {
      if (!visit(*object)) return;
    }
  }
  void Put(const ObjectKey& key,
           std::int64_t /*expected*/,
           nlohmann::json object,
           Done done) override {
    Hold(key.resource, object);
    done(GetLatest(key));
  }
  void Delete(const ObjectKey& key,
              std::int64_t /*expected*/,
              nlohmann::json /*last*/,
              Done done) override {
    done(GetLatest(key));
    objects_.erase(key);
  }
  void WhenDurable(std::function<void(Status)> done) override { done({}); }
  [[nodiscard]] Result<WatchPosition> WatchFrom(const std::string& resource,
                                                std::int64_t /*version*/) const override {
    return WatchPosition{resource, 0};
  }
  [[nodiscard]] Result<const Change*> Next(WatchPosition& /*position*/) const override {
    return nullptr;
  }
  [[nodiscard]] Token Subscribe(const std::string& /*resource*/,
                                std::function<void()> /*listener*/) override {
    return nullptr;
  }

 private:
  std::map<ObjectKey, ObjectRef> objects_;
  std::int64_t version_ = 0;
};

inline Resource TestRow(std::string group, std::string kind, std::string plural) {
  Resource row;
  row.group = std::move(group);
  row.version = "v1";
  row.kind = std::move(kind);
  row.plural = std::move(plural);
  row.custom = row.group.ends_with("volcano.sh");
  return row;
}

inline constexpr Time kTestNow{std::chrono::milliseconds{1'700'000'000'000}};

// Asks the rules of one kind, as the REST part would.
class Admission {
 public:
  Admission(std::string group, std::string kind, std::string plural)
      : row_(TestRow(std::move(group), std::move(kind), std::move(plural))) {}

  TestStore& store() { return store_; }

  // The object as it was admitted.
  nlohmann::json Created(nlohmann::json object) {
    const auto admitted = AdmitCreate({row_, store_, kTestNow}, object);
    EXPECT_TRUE(admitted.has_value()) << admitted.error().message;
    return object;
  }
  nlohmann::json Updated(const nlohmann::json& before,
                         nlohmann::json after,
                         std::string_view subresource = "") {
    const auto admitted = AdmitUpdate({row_, store_, kTestNow}, before, after, subresource);
    EXPECT_TRUE(admitted.has_value()) << admitted.error().message;
    return after;
  }
  // "422 <message>", or "no error".
  std::string CreateError(nlohmann::json object) {
    return Text(AdmitCreate({row_, store_, kTestNow}, object));
  }
  std::string UpdateError(const nlohmann::json& before,
                          nlohmann::json after,
                          std::string_view subresource = "") {
    return Text(AdmitUpdate({row_, store_, kTestNow}, before, after, subresource));
  }
  std::string DeleteError(const nlohmann::json& object) {
    return Text(AdmitDelete({row_, store_, kTestNow}, object));
  }

 private:
  static std::string Text(const ApiResult<void>& result) {
    if (result) return "no error";
    return std::to_string(result.error().code) + " " + result.error().message;
  }

  Resource row_;
  TestStore store_;
};

// JSON with ' for ", so that tests read well.
inline nlohmann::json J(std::string text) {
  for (char& c : text) {
    if (c == '\'') c = '"';
  }
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << text;
  return parsed;
}

}  // namespace strata::apiserver
