#include "inspect/snapshot.h"

#include <simdjson.h>

#include <optional>
#include <utility>

#include "objects/kinds.h"
#include "objects/load.h"

namespace strata::inspect {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr const char* kSourceName = "cluster";
constexpr std::size_t kPiece = 64 << 10;  // bytes that are written at a time

kube::WatchSpec All(const kube::Resource& resource) {
  return {.resource = resource, .ns = {}, .label_selector = {}, .field_selector = {}};
}

std::vector<kube::WatchSpec> MakeParts() {
  std::vector<kube::WatchSpec> parts;
  for (const objects::Kind& kind : objects::kKinds) {
    if (kind.use >= objects::Use::kSnapshot) parts.push_back(All(kube::ToResource(kind)));
  }
  parts.push_back({.resource = kube::kConfigMaps,
                   .ns = "volcano-system",
                   .label_selector = {},
                   .field_selector = "metadata.name=volcano-scheduler-configmap"});
  return parts;
}

// Where in a text a member of an object stands, with its key.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// None when there are none, or the text is not what it should be.
std::optional<Span> FindManagedFields(const simdjson::padded_string& text) {
  ondemand::parser parser;
  ondemand::document document;
  ondemand::object meta;
  if (parser.iterate(text).get(document)) return std::nullopt;
  if (document.find_field_unordered("metadata").get_object().get(meta)) return std::nullopt;
  for (auto member : meta) {
    ondemand::field field;
    ondemand::array value;
    std::string_view raw;
    if (std::move(member).get(field)) return std::nullopt;
    if (!(field.key() == "managedFields")) continue;
    const char* key = field.key().raw();
    if (field.value().get_array().get(value) || value.raw_json().get(raw)) return std::nullopt;
    return Span{static_cast<std::size_t>(key - 1 - text.data()),
                static_cast<std::size_t>(raw.data() + raw.size() - text.data())};
  }
  return std::nullopt;
}

bool IsSpace(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// Takes the comma along that joined the member to its neighbours.
Span WithComma(std::string_view text, Span span) {
  std::size_t after = span.end;
  while (after < text.size() && IsSpace(text[after])) ++after;
  if (after < text.size() && text[after] == ',') return {span.begin, after + 1};
  std::size_t before = span.begin;
  while (before > 0 && IsSpace(text[before - 1])) --before;
  if (before > 0 && text[before - 1] == ',') return {before - 1, span.end};
  return span;
}

std::string JoinLines(const std::vector<std::string_view>& texts) {
  std::size_t size = 0;
  for (const std::string_view text : texts) size += text.size() + 1;
  std::string joined;
  joined.reserve(size);
  for (const std::string_view text : texts) {
    joined += text;
    joined += '\n';
  }
  return joined;
}

Result<objects::ObjectSet> ParseTogether(const std::vector<std::string_view>& texts) {
  if (texts.empty()) return objects::ObjectSet{};
  const objects::Source source{kSourceName, JoinLines(texts)};
  return objects::ParseObjects(std::span(&source, 1));
}

}  // namespace

std::span<const kube::WatchSpec> SnapshotParts() {
  static const std::vector<kube::WatchSpec> parts = MakeParts();
  return parts;
}

Result<std::vector<ListedObject>> ReadPart(LiveCluster& cluster, const kube::WatchSpec& part) {
  kube::ListOptions options;
  options.label_selector = part.label_selector;
  options.field_selector = part.field_selector;
  TRY_ASSIGN(std::optional<std::vector<ListedObject>> objects,
             cluster.List(part.resource, part.ns, options));
  return objects ? std::move(*objects) : std::vector<ListedObject>();
}

Status WriteSnapshot(LiveCluster& cluster, const Write& write) {
  std::string pending = "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"metadata\":{},\"items\":[";
  std::string_view separator = "\n";
  for (const kube::WatchSpec& part : SnapshotParts()) {
    TRY_ASSIGN(std::vector<ListedObject> objects, ReadPart(cluster, part));
    for (ListedObject& object : objects) {
      pending += separator;
      pending += WithoutManagedFields(std::move(object.text));
      separator = ",\n";
      if (pending.size() < kPiece) continue;
      TRY(write(pending));
      pending.clear();
    }
  }
  pending += "\n]}\n";
  return write(pending);
}

std::string WithoutManagedFields(std::string text) {
  const std::optional<Span> found = FindManagedFields(simdjson::padded_string(text));
  if (!found) return text;
  const Span span = WithComma(text, *found);
  text.erase(span.begin, span.end - span.begin);
  return text;
}

Result<objects::ObjectSet> ParseTexts(const std::vector<std::string_view>& texts) {
  Result<objects::ObjectSet> all = ParseTogether(texts);
  if (all) return all;
  std::vector<std::string_view> good;
  std::vector<std::string> warnings;
  for (const std::string_view text : texts) {
    const Result<objects::ObjectSet> one = ParseTogether({text});
    if (one) {
      good.push_back(text);
    } else {
      warnings.push_back("skipped: " + one.error().message);
    }
  }
  all = ParseTogether(good);
  if (all) all->warnings.insert(all->warnings.begin(), warnings.begin(), warnings.end());
  return all;
}

}  // namespace strata::inspect
