#include "agent/publish.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "convert/node_lock.h"
#include "discovery/node_report.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"
#include "nvml/node_annotations.h"

namespace strata::agent {
namespace {

using Json = nlohmann::json;
using Texts = std::map<std::string, std::string>;

constexpr const char* kCliqueLabel = "nvidia.com/gpu.clique";
constexpr const char* kProductLabel = "nvidia.com/gpu.product";
constexpr const char* kCountLabel = "nvidia.com/gpu.count";
constexpr const char* kMemoryLabel = "nvidia.com/gpu.memory";

// Letters, digits and "-_." alone, the latter not at its ends, as in the value of a label.
std::string LabelText(std::string text) {
  std::replace_if(
      text.begin(),
      text.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.'; },
      '-');
  constexpr std::size_t kMost = 63;
  text.resize(std::min(text.size(), kMost));
  const auto is_end = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; };
  while (!text.empty() && is_end(text.back())) text.pop_back();
  while (!text.empty() && is_end(text.front())) text.erase(0, 1);
  return text;
}

// The labels that describe the machine; "": it has no such label.
Texts WantedLabels(const Machine& machine) {
  Texts labels;
  labels[kCliqueLabel] = LabelText(machine.clique);
  const auto& gpus = machine.node.gpus;
  labels[kProductLabel] = gpus.empty() ? "" : LabelText(gpus.front().type);
  labels[kCountLabel] = gpus.empty() ? "" : fmt::format("{}", gpus.size());
  labels[kMemoryLabel] = gpus.empty() ? "" : fmt::format("{}", gpus.front().memory_mib);
  return labels;
}

std::optional<std::string> Find(const Labels& all, std::string_view key) {
  const auto it = all.find(key);
  return it == all.end() ? std::nullopt : std::optional<std::string>(it->second);
}

// What the annotation of an agent says; null when there is none.
Json SaidBefore(const NodeNotes& node) {
  const auto text = Find(node.annotations, kAgentAnnotation);
  return text ? ParseJsonOrNull(*text) : Json();
}

// The labels that an agent set and nobody changed since.
Texts OwnLabels(const NodeNotes& node, const Json& before) {
  Texts own;
  for (const auto& [name, value] : ObjectAt(before, {"labels"}).items()) {
    if (value.is_string() && Find(node.labels, name) == value.get<std::string>()) {
      own[name] = value.get<std::string>();
    }
  }
  return own;
}

// What is to be written so that `has` reads `wants`; "" means absent.
void Add(Json& patch, const Labels& has, std::string_view key, const std::string& wants) {
  const auto value = Find(has, key);
  if (wants.empty() ? value.has_value() : value != wants) {
    patch[std::string(key)] = wants.empty() ? Json() : Json(wants);
  }
}

std::string PatchText(Json annotations, Json labels) {
  Json metadata = Json::object();
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  if (!labels.empty()) metadata["labels"] = std::move(labels);
  return metadata.empty() ? "" : DumpJson({{"metadata", std::move(metadata)}});
}

bool IsRecent(const Json& before, Time now) {
  const auto seen = ParseTimestamp(TextAt(before, {"seen"}));
  return seen && now - *seen < kHeartbeat && *seen <= now;
}

// "" where there is nothing to tell: no GPUs, or no pair of them whose link is known.
std::string RegisterOf(const NodeGpus& node) {
  return node.gpus.empty() ? "" : nvml::RegisterText(node);
}
std::string ScoresOf(const NodeGpus& node) {
  const std::size_t pairs = node.gpus.size() * (node.gpus.size() - 1) / 2;
  return node.gpus.empty() || node.scores.unknown().size() == pairs ? "" : nvml::ScoreText(node);
}

}  // namespace

NodeNotes ReadNodeNotes(std::string_view node) {
  const Json root = ParseJsonOrNull(node);
  NodeNotes notes;
  const auto read = [&](const char* name, Labels& out) {
    for (const auto& [key, value] : ObjectAt(root, {"metadata", name}).items()) {
      if (value.is_string()) out[key] = value.get<std::string>();
    }
  };
  read("annotations", notes.annotations);
  read("labels", notes.labels);
  return notes;
}

bool HasOtherAgent(const NodeNotes& node) {
  return Find(node.annotations, nvml::kRegisterKey) && !Find(node.annotations, kAgentAnnotation);
}

std::string PatchToPublish(const Machine& machine,
                           const AgentFacts& facts,
                           const NodeNotes& node,
                           Time now) {
  const Json before = SaidBefore(node);
  Texts own = OwnLabels(node, before);
  Json labels = Json::object();
  for (const auto& [name, wants] : WantedLabels(machine)) {
    const bool may_set = own.contains(name) || !Find(node.labels, name);
    if (!may_set) continue;
    Add(labels, node.labels, name, wants);
    if (wants.empty()) {
      own.erase(name);
    } else {
      own[name] = wants;
    }
  }
  Json annotations = Json::object();
  Add(annotations, node.annotations, nvml::kRegisterKey, RegisterOf(machine.node));
  Add(annotations, node.annotations, nvml::kScoreKey, ScoresOf(machine.node));
  Add(annotations, node.annotations, discovery::kFabricAnnotation, facts.fabric);
  Json says = {{"version", facts.version},
               {"identity", facts.identity},
               {"shares", facts.shares},
               {"boot", facts.boot},
               {"labels", own}};
  says["seen"] = TextAt(before, {"seen"});
  if (says != before || !IsRecent(before, now)) {
    says["seen"] = FormatTimestamp(now);
    annotations[std::string(kAgentAnnotation)] = DumpJson(says);
  }
  return PatchText(std::move(annotations), std::move(labels));
}

std::string PatchToWithdraw(const NodeNotes& node) {
  Json annotations = Json::object();
  Json labels = Json::object();
  for (const auto& [name, value] : OwnLabels(node, SaidBefore(node))) labels[name] = Json();
  for (const std::string_view key : {std::string_view(nvml::kRegisterKey),
                                     std::string_view(nvml::kScoreKey),
                                     discovery::kFabricAnnotation,
                                     kAgentAnnotation}) {
    Add(annotations, node.annotations, key, "");
  }
  return PatchText(std::move(annotations), std::move(labels));
}

}  // namespace strata::agent
