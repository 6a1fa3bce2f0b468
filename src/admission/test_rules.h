#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "admission/admission.h"
#include "admission/object_reader.h"
#include "admission/resource_info.h"

// The rules over objects that a test puts in.
namespace strata::admission {

class TestStore final : public ObjectReader {
 public:
  void Hold(const std::string& resource, const nlohmann::json& object) {
    auto stored = std::make_shared<StoredObject>();
    stored->ns = object["metadata"].value("namespace", "");
    stored->name = object["metadata"].value("name", "");
    stored->body = object.dump();
    objects_[{resource, stored->ns, stored->name}] = stored;
  }

  [[nodiscard]] ObjectRef GetLatest(const ObjectKey& key) const override {
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  void VisitLatest(const std::string& resource,
                   const std::string& ns,
                   const std::function<bool(const StoredObject&)>& visit) const override {
    for (const auto& [key, object] : objects_) {
      if (key.resource != resource || (!ns.empty() && key.ns != ns)) continue;
      if (!visit(*object)) return;
    }
  }

 private:
  std::map<ObjectKey, ObjectRef> objects_;
};

inline ResourceInfo TestRow(std::string group, std::string kind, std::string plural) {
  ResourceInfo row;
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
  std::string DeleteError(const nlohmann::json& object,
                          UsedQueues used_queues = UsedQueues::kMayGo) {
    return Text(AdmitDelete({row_, store_, kTestNow, used_queues}, object));
  }

 private:
  static std::string Text(const ApiResult<void>& result) {
    if (result) return "no error";
    return std::to_string(result.error().code) + " " + result.error().message;
  }

  ResourceInfo row_;
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

}  // namespace strata::admission
