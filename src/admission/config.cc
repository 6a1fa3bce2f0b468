#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "admission/kind_rules.h"
#include "admission/name_rules.h"
#include "base/base64.h"
#include "json/access.h"

namespace strata::admission {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxBytes = 1 << 20;

std::size_t DecodedSize(std::string_view base64) {
  while (!base64.empty() && base64.back() == '=') base64.remove_suffix(1);
  return base64.size() * 3 / 4;
}

void MoveStringData(json& secret) {
  const auto given = secret.find("stringData");
  if (given == secret.end()) return;
  const json plain = *given;
  secret.erase(given);
  if (!plain.is_object() || plain.empty()) return;
  json& data = ObjectIn(secret, "data");
  for (const auto& [key, value] : plain.items()) {
    if (value.is_string()) data[key] = EncodeBase64(value.get_ref<const std::string&>());
  }
}

// Checks the keys of a map of the object and returns how many bytes its values have.
std::int64_t CheckData(const json& object, std::string_view map, bool base64, Problems& problems) {
  std::int64_t total = 0;
  for (const auto& [key, value] : ObjectAt(object, {map}).items()) {
    const std::string error = ConfigKeyError(key);
    if (!error.empty()) problems.Invalid(fmt::format("{}[{}]", map, key), key, error);
    if (!value.is_string()) continue;
    const std::string& text = value.get_ref<const std::string&>();
    total += static_cast<std::int64_t>(base64 ? DecodedSize(text) : text.size());
  }
  return total;
}

void CheckTypeKeys(const json& secret, Problems& problems) {
  struct Rule {
    std::string_view type;
    std::string_view key;
  };
  constexpr std::array kNeeded = {Rule{"kubernetes.io/tls", "tls.crt"},
                                  Rule{"kubernetes.io/tls", "tls.key"},
                                  Rule{"kubernetes.io/ssh-auth", "ssh-privatekey"},
                                  Rule{"kubernetes.io/dockercfg", ".dockercfg"},
                                  Rule{"kubernetes.io/dockerconfigjson", ".dockerconfigjson"}};
  const std::string& type = TextAt(secret, {"type"});
  const json& data = ObjectAt(secret, {"data"});
  for (const Rule& rule : kNeeded) {
    if (rule.type != type || data.contains(rule.key)) continue;
    problems.Required(fmt::format("data[{}]", rule.key));
  }
  if (type == "kubernetes.io/basic-auth" && !data.contains("username") &&
      !data.contains("password")) {
    problems.Required("data[username]");
    problems.Required("data[password]");
  }
}

void CheckSecret(const json& secret, Problems& problems) {
  if (CheckData(secret, "data", true, problems) > kMaxBytes) problems.TooLong("data", kMaxBytes);
  CheckTypeKeys(secret, problems);
}

void CheckConfigMap(const json& object, Problems& problems) {
  std::int64_t total = CheckData(object, "data", false, problems);
  total += CheckData(object, "binaryData", true, problems);
  const json& data = ObjectAt(object, {"data"});
  for (const auto& [key, value] : ObjectAt(object, {"binaryData"}).items()) {
    if (!data.contains(key)) continue;
    problems.Invalid(fmt::format("data[{}]", key), key, "duplicate of key present in binaryData");
  }
  if (total > kMaxBytes) problems.TooLong("[]", kMaxBytes);
}

void CheckImmutable(const Edit& edit,
                    std::initializer_list<std::string_view> maps,
                    Problems& problems) {
  if (!BoolAt(edit.before, {"immutable"})) return;
  constexpr std::string_view kWhy = "field is immutable when `immutable` is set";
  if (!BoolAt(edit.after, {"immutable"})) problems.Forbidden("immutable", kWhy);
  for (const std::string_view map : maps) {
    if (ObjectAt(edit.before, {map}) == ObjectAt(edit.after, {map})) continue;
    problems.Forbidden(std::string(map), kWhy);
  }
}

}  // namespace

ApiResult<void> CreateSecret(const AdmissionContext& /*context*/,
                             json& object,
                             Problems& problems) {
  MoveStringData(object);
  CheckSecret(object, problems);
  return {};
}

ApiResult<void> UpdateSecret(const AdmissionContext& /*context*/,
                             const Edit& edit,
                             Problems& problems) {
  MoveStringData(edit.after);
  if (TextAt(edit.after, {"type"}) != TextAt(edit.before, {"type"})) {
    problems.Immutable("type", TextAt(edit.after, {"type"}));
  }
  CheckImmutable(edit, {"data"}, problems);
  CheckSecret(edit.after, problems);
  return {};
}

ApiResult<void> CreateConfigMap(const AdmissionContext& /*context*/,
                                json& object,
                                Problems& problems) {
  CheckConfigMap(object, problems);
  return {};
}

ApiResult<void> UpdateConfigMap(const AdmissionContext& /*context*/,
                                const Edit& edit,
                                Problems& problems) {
  CheckImmutable(edit, {"data", "binaryData"}, problems);
  CheckConfigMap(edit.after, problems);
  return {};
}

}  // namespace strata::admission
