#include "objects/yaml_writer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include <nlohmann/json.hpp>
#include <yaml-cpp/emitter.h>
#include <yaml-cpp/emittermanip.h>

#include "json/dump.h"

namespace strata::objects {
namespace {

using Json = nlohmann::ordered_json;

// Whether a YAML 1.1 reader takes the bare word for this very string.
bool IsPlainWord(std::string_view text) {
  constexpr std::string_view kOthers = "._/-";
  constexpr std::array<std::string_view, 9> kReserved = {
      "true", "false", "yes", "no", "on", "off", "y", "n", "null"};
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text.front())) == 0) return false;
  std::string lower;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || (std::isalnum(byte) == 0 && kOthers.find(c) == std::string_view::npos)) {
      return false;
    }
    lower.push_back(static_cast<char>(std::tolower(byte)));
  }
  return std::find(kReserved.begin(), kReserved.end(), lower) == kReserved.end();
}

void EmitText(YAML::Emitter& out, const std::string& text) {
  if (!IsPlainWord(text)) out << YAML::DoubleQuoted;
  out << text;
}

void Emit(YAML::Emitter& out, const Json& json) {
  if (json.is_object()) {
    if (json.empty()) out << YAML::Flow;
    out << YAML::BeginMap;
    for (const auto& [key, value] : json.items()) {
      out << YAML::Key;
      EmitText(out, key);
      out << YAML::Value;
      Emit(out, value);
    }
    out << YAML::EndMap;
  } else if (json.is_array()) {
    if (json.empty()) out << YAML::Flow;
    out << YAML::BeginSeq;
    for (const Json& item : json) Emit(out, item);
    out << YAML::EndSeq;
  } else if (json.is_string()) {
    EmitText(out, json.get_ref<const std::string&>());
  } else {
    out << DumpJson(json);
  }
}

}  // namespace

std::string WriteYaml(const Json& json) {
  YAML::Emitter out;
  Emit(out, json);
  return std::string(out.c_str(), out.size()) + "\n";
}

}  // namespace strata::objects
