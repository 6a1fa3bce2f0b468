#include "schema/type_reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"
#include "schema/traits.h"

namespace strata::schema {
namespace {

constexpr std::array<std::pair<std::string_view, Type>, 11> kScalars = {
    {{"string", Type::kString},
     {"int32", Type::kInteger},
     {"int64", Type::kInteger},
     {"number", Type::kNumber},
     {"bool", Type::kBoolean},
     {"bytes", Type::kBytes},
     {"quantity", Type::kQuantity},
     {"intOrString", Type::kIntOrString},
     {"time", Type::kTime},
     {"microTime", Type::kMicroTime},
     {"any", Type::kAny}}};

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(Trim(line), ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::string FormatOf(std::string_view word) {
  if (word == "int32" || word == "int64") return std::string(word);
  if (word == "time" || word == "microTime") return "date-time";
  if (word == "bytes") return "byte";
  if (word == "number") return "double";
  if (word == "intOrString") return "int-or-string";
  return "";
}

// What the scalars are called that are types of their own in Kubernetes.
std::string TypeNameOf(std::string_view word) {
  if (word == "quantity") return "io.k8s.apimachinery.pkg.api.resource.Quantity";
  if (word == "intOrString") return "io.k8s.apimachinery.pkg.util.intstr.IntOrString";
  if (word == "time") return "io.k8s.apimachinery.pkg.apis.meta.v1.Time";
  if (word == "microTime") return "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime";
  return "";
}

void SetDefault(Schema& schema, std::string_view text, bool if_empty) {
  schema.default_value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  CHECK(!schema.default_value->is_discarded());
  schema.default_if_empty = if_empty;
}

void SetPatch(Schema& schema, PatchStrategy strategy, std::string_view key) {
  schema.patch_strategy = strategy;
  schema.patch_merge_key = std::string(key);
}

void SetAttribute(Schema& schema, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
  if (name == "default" || name == "or") {
    SetDefault(schema, value, name == "or");
  } else if (name == "merge") {
    SetPatch(schema, PatchStrategy::kMerge, value);
  } else if (name == "retain") {
    SetPatch(schema, PatchStrategy::kRetainKeys, value);
  } else if (name == "mergeRetain") {
    SetPatch(schema, PatchStrategy::kMergeRetainKeys, value);
  } else if (name == "map") {
    schema.list_type = ListType::kMap;
    for (const std::string_view key : Split(value, ',')) schema.list_map_keys.emplace_back(key);
  } else if (name == "set") {
    schema.list_type = ListType::kSet;
  } else if (name == "go") {
    schema.go_name = std::string(value);
  } else if (name == "atomic") {
    schema.atomic = schema.type != Type::kArray;
  } else {
    CHECK(name.empty());  // an attribute nobody knows
  }
}

}  // namespace

TypeReader::TypeReader(const std::vector<std::string_view>& packages,
                       std::string_view descriptions) {
  for (const std::string_view text : packages) ReadPackage(text);
  for (const std::string_view line : Split(descriptions, '\n')) {
    const std::size_t blank = line.find(' ');
    if (line.starts_with('#') || blank == std::string_view::npos) continue;
    descriptions_.emplace(line.substr(0, blank), line.substr(blank + 1));
  }
}

void TypeReader::ReadPackage(std::string_view text) {
  Entry* entry = nullptr;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with("  ")) {
      CHECK(entry != nullptr);
      if (entry->body.empty()) entry->body = text;
      const auto length = static_cast<std::size_t>(line.data() + line.size() - entry->body.data());
      entry->body = std::string_view(entry->body.data(), length);
    } else if (const std::vector<std::string_view> words = Words(line); words.empty()) {
      entry = nullptr;
    } else if (words[0] == "package") {
      CHECK(words.size() == 4);
      packages_.push_back(std::make_unique<Package>(Package{words[1], words[2], words[3]}));
    } else {
      CHECK(words[0] == "type" && words.size() > 1 && !packages_.empty());
      const Package& package = *packages_.back();
      const std::string key = std::string(package.alias) + "." + std::string(words[1]);
      entry = &types_[key];
      entry->package = &package;
      entry->name = words[1];
      entry->attributes.assign(words.begin() + 2, words.end());
      if (std::find(words.begin() + 2, words.end(), "kind") != words.end()) {
        kinds_[std::string(package.group_version) + "/" + std::string(words[1])] = key;
      }
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

SchemaRef TypeReader::Kind(std::string_view group,
                           std::string_view version,
                           std::string_view kind) {
  std::string key(group);
  key.append("/").append(version).append("/").append(kind);
  const auto found = kinds_.find(key);
  return found == kinds_.end() ? nullptr : Make(types_.find(found->second)->second);
}

SchemaRef TypeReader::Type(std::string_view type_name) {
  for (const auto& package : packages_) {
    if (!type_name.starts_with(package->name) || type_name.size() <= package->name.size()) continue;
    std::string key(package->alias);
    key.append(type_name.substr(package->name.size()));
    if (const auto found = types_.find(key); found != types_.end()) return Make(found->second);
  }
  return nullptr;
}

std::vector<std::string> TypeReader::TypeNames() const {
  std::vector<std::string> names;
  for (const auto& [key, entry] : types_) {
    names.push_back(std::string(entry.package->name) + "." + std::string(entry.name));
  }
  return names;
}

SchemaRef TypeReader::Make(Entry& entry) {
  if (entry.made != nullptr) return entry.made;
  // A type inside itself is anything: the tree must end somewhere.
  if (entry.in_progress) return Scalar("any");
  entry.in_progress = true;
  auto schema = std::make_shared<Schema>();
  schema->type = schema::Type::kObject;
  schema->go_name = std::string(entry.name);
  schema->type_name = std::string(entry.package->name) + "." + schema->go_name;
  const std::string key = std::string(entry.package->alias) + "." + schema->go_name;
  schema->description = Description(key);
  for (const std::string_view word : entry.attributes) {
    if (word != "kind") SetAttribute(*schema, word);
  }
  if (!entry.body.empty()) {
    for (const std::string_view line : Split(entry.body, '\n')) {
      schema->fields.push_back(MakeField(entry, line));
      schema->fields.back().description = Description(key + "." + schema->fields.back().name);
    }
  }
  std::sort(schema->fields.begin(), schema->fields.end(), [](const Field& a, const Field& b) {
    return a.name < b.name;
  });
  SetTraits(*schema);
  entry.made = std::move(schema);
  entry.in_progress = false;
  return entry.made;
}

Field TypeReader::MakeField(const Entry& entry, std::string_view line) {
  const std::vector<std::string_view> words = Words(line);
  CHECK(words.size() >= 2);
  Field field;
  field.required = words[0].ends_with('!');
  field.name = std::string(words[0].substr(0, words[0].size() - (field.required ? 1 : 0)));
  field.schema = Expression(entry, words[1]);
  if (words.size() > 2) {
    auto own = std::make_shared<Schema>(*field.schema);
    for (std::size_t i = 2; i < words.size(); ++i) SetAttribute(*own, words[i]);
    SetTraits(*own);
    field.schema = std::move(own);
  }
  return field;
}

SchemaRef TypeReader::Expression(const Entry& entry, std::string_view text) {
  const bool list = text.starts_with("[]");
  if (!list && !text.starts_with("{}")) return Reference(entry, text);
  auto schema = std::make_shared<Schema>();
  schema->type = list ? schema::Type::kArray : schema::Type::kMap;
  schema->items = Expression(entry, text.substr(2));
  SetTraits(*schema);
  return schema;
}

SchemaRef TypeReader::Reference(const Entry& entry, std::string_view name) {
  if (name.find('.') == std::string_view::npos || name.find('<') != std::string_view::npos) {
    if (SchemaRef scalar = Scalar(name)) return scalar;
  }
  std::string key(name);
  if (name.find('.') == std::string_view::npos) key = std::string(entry.package->alias) + "." + key;
  const auto found = types_.find(key);
  CHECK(found != types_.end());
  return Make(found->second);
}

SchemaRef TypeReader::Scalar(std::string_view word) {
  if (const auto known = scalars_.find(word); known != scalars_.end()) return known->second;
  const std::string_view name = word.substr(0, word.find('<'));
  const auto* found = std::find_if(
      kScalars.begin(), kScalars.end(), [&](const auto& scalar) { return scalar.first == name; });
  if (found == kScalars.end()) return nullptr;
  auto schema = std::make_shared<Schema>();
  schema->type = found->second;
  schema->format = FormatOf(name);
  schema->type_name = TypeNameOf(name);
  schema->description = Description("meta." + std::string(name));
  if (name.size() < word.size()) {
    schema->go_name = std::string(word.substr(name.size() + 1, word.size() - name.size() - 2));
  }
  SetTraits(*schema);
  return scalars_.emplace(std::string(word), std::move(schema)).first->second;
}

std::string TypeReader::Description(const std::string& key) const {
  const auto found = descriptions_.find(key);
  return found == descriptions_.end() ? std::string() : std::string(found->second);
}

}  // namespace strata::schema
