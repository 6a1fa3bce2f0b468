#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "json/access.h"
#include "schema/catalog.h"
#include "schema/check.h"
#include "schema/keywords.h"
#include "schema/path.h"
#include "schema/problems.h"
#include "schema/rules.h"
#include "schema/traits.h"
#include "schema/type_words.h"

namespace strata::schema {
namespace {

using nlohmann::json;

// Deeper than any schema somebody wrote; walks recurse along a schema.
constexpr int kMaxDepth = 64;

// The position of a schema, which decides what is allowed in it.
enum class Level : std::uint8_t {
  kRoot,
  kField,
  kItem,
  kCondition,  // inside allOf, anyOf, oneOf, not: only asks, does not define
};

constexpr std::array<std::string_view, 6> kNotSupported = {
    "$ref", "definitions", "dependencies", "patternProperties", "additionalItems", "id"};

// Builds a schema from JSON and finds what is wrong with it on the way.
class Builder {
 public:
  explicit Builder(ProblemList& problems) : problems_(problems) {}

  SchemaRef Build(const json& source, Level level, const std::string& at, int depth) {
    auto schema = std::make_shared<Schema>();
    if (!source.is_object()) {
      problems_.Add(InvalidValue(at, source, "must be an object"));
      return schema;
    }
    if (depth > kMaxDepth) {
      problems_.Add(ForbiddenField(at, "schemas nested this deeply are not supported"));
      return schema;
    }
    if (SchemaRef borrowed = Borrow(source)) return borrowed;
    Refuse(source, at);
    SetType(*schema, source, level, at);
    KeywordReader(source, at, problems_).Read(*schema);
    SetPattern(*schema, at);
    SetItems(*schema, source, {level, at, depth});
    SetFields(*schema, source, {level, at, depth});
    SetAlternatives(*schema, source, at, depth);
    if (BoolAt(source, {"x-kubernetes-embedded-resource"}) || level == Level::kRoot) {
      AddTypeAndMeta(*schema, source, at, depth);
    }
    if (level == Level::kRoot) schema->description = TextAt(source, {"description"});
    CheckListKeys(*schema, at);
    SetTraits(*schema);
    CheckDefault(*schema, at);
    return schema;
  }

 private:
  struct Position {
    Level level;
    const std::string& at;
    int depth;
  };

  // The built-in type that `source` names, nullptr for none.
  static SchemaRef Borrow(const json& source) {
    const std::string title = TextAt(source, {"title"});
    if (title.empty() || !BoolAt(source, {"x-kubernetes-preserve-unknown-fields"})) return nullptr;
    const SchemaRef type = BuiltInType(title);
    if (type == nullptr) return nullptr;
    auto own = std::make_shared<Schema>(*type);
    own->as_sent = true;
    own->description = TextAt(source, {"description"});
    return own;
  }

  void Refuse(const json& source, const std::string& at) {
    for (const std::string_view word : kNotSupported) {
      if (source.contains(word)) {
        problems_.Add(ForbiddenField(fmt::format("{}.{}", at, word),
                                     fmt::format("{} is not supported", word)));
      }
    }
    if (BoolAt(source, {"uniqueItems"})) {
      problems_.Add(ForbiddenField(at + ".uniqueItems",
                                   "uniqueItems cannot be set to true since the runtime "
                                   "complexity becomes quadratic"));
    }
    if (source.contains("properties") && source.contains("additionalProperties")) {
      problems_.Add(ForbiddenField(at + ".additionalProperties",
                                   "additionalProperties and properties are mutual exclusive"));
    }
  }

  void SetType(Schema& schema, const json& source, Level level, const std::string& at) {
    schema.preserve_unknown = BoolAt(source, {"x-kubernetes-preserve-unknown-fields"});
    const std::string type = TextAt(source, {"type"});
    const std::string field = at + ".type";
    if (BoolAt(source, {"x-kubernetes-int-or-string"})) {
      schema.type = Type::kIntOrString;
      return;
    }
    if (type.empty()) {
      if (level == Level::kCondition || (level != Level::kRoot && schema.preserve_unknown)) return;
      problems_.Add(RequiredValue(field,
                                  level == Level::kRoot ? "must not be empty at the root"
                                  : level == Level::kItem
                                      ? "must not be empty for specified array items"
                                      : "must not be empty for specified object fields"));
      return;
    }
    if (level == Level::kCondition) {
      problems_.Add(ForbiddenField(field, "must be empty to be structural"));
      return;
    }
    schema.type = TypeOfWord(type);
    if (schema.type == Type::kAny) {
      problems_.Add(UnsupportedValue(
          field, type, {"array", "boolean", "integer", "number", "object", "string"}));
      return;
    }
    if (level == Level::kRoot && schema.type != Type::kObject) {
      problems_.Add(InvalidValue(field, type, "must be object at the root"));
    }
  }

  void SetPattern(Schema& schema, const std::string& at) {
    if (schema.pattern.empty()) return;
    auto& compiled = patterns_[schema.pattern];
    if (compiled == nullptr) compiled = std::make_shared<RE2>(schema.pattern, RE2::Quiet);
    if (!compiled->ok()) {
      problems_.Add(
          InvalidValue(at + ".pattern",
                       schema.pattern,
                       "must be a valid regular expression, but isn't: " + compiled->error()));
    }
    schema.compiled_pattern = compiled;
  }

  void SetItems(Schema& schema, const json& source, const Position& here) {
    const std::string& at = here.at;
    const auto items = source.find("items");
    if (items != source.end()) {
      if (items->is_array()) {
        problems_.Add(
            ForbiddenField(at + ".items", "items must be a schema object and not an array"));
      } else {
        schema.items = Build(*items, Inner(here, Level::kItem), at + ".items", here.depth + 1);
      }
    } else if (schema.type == Type::kArray) {
      problems_.Add(RequiredValue(at + ".items", "must be specified"));
    }
    const auto additional = source.find("additionalProperties");
    if (additional == source.end() || *additional == false) return;
    if (here.level == Level::kCondition) {
      problems_.Add(
          ForbiddenField(at + ".additionalProperties", "must be undefined to be structural"));
      return;
    }
    if (schema.type == Type::kObject) schema.type = Type::kMap;
    const std::string inner = at + ".additionalProperties";
    schema.items = additional->is_boolean()
                       ? std::make_shared<Schema>()
                       : Build(*additional, Level::kField, inner, here.depth + 1);
  }

  // What only asks has only parts that ask.
  static Level Inner(const Position& here, Level plain) {
    return here.level == Level::kCondition ? Level::kCondition : plain;
  }

  void SetFields(Schema& schema, const json& source, const Position& here) {
    const auto properties = source.find("properties");
    if (properties != source.end() && properties->is_object()) {
      const Level inner = Inner(here, Level::kField);
      for (const auto& [name, value] : properties->items()) {
        // metadata is ours to say; it is put in afterwards.
        if (here.level == Level::kRoot && name == "metadata") continue;
        const std::string at = fmt::format("{}.properties[{}]", here.at, CutUtf8(name, kShownKey));
        schema.fields.push_back(Field{name, Build(value, inner, at, here.depth + 1), false, ""});
      }
    }
    const auto required = source.find("required");
    if (required == source.end()) return;
    std::set<std::string> names;
    for (const json& name : *required) {
      if (!name.is_string() || !required->is_array()) {
        problems_.Add(InvalidValue(here.at + ".required", name, "must be a list of names"));
        return;
      }
      names.insert(name.get_ref<const std::string&>());
    }
    MustHave(schema, std::move(names));
  }

  // Makes fields required; those that are new can be anything.
  static void MustHave(Schema& schema, std::set<std::string> names) {
    for (Field& field : schema.fields) {
      if (names.erase(field.name) > 0) field.required = true;
    }
    for (const std::string& name : names) {
      schema.fields.push_back(Field{name, std::make_shared<Schema>(), true, ""});
    }
    std::sort(schema.fields.begin(), schema.fields.end(), [](const Field& a, const Field& b) {
      return a.name < b.name;
    });
  }

  std::vector<SchemaRef> List(const json& source,
                              std::string_view word,
                              const std::string& at,
                              int depth) {
    std::vector<SchemaRef> schemas;
    const auto found = source.find(word);
    if (found == source.end() || !found->is_array()) return schemas;
    for (std::size_t i = 0; i < found->size(); ++i) {
      const std::string inner = fmt::format("{}.{}[{}]", at, word, i);
      schemas.push_back(Build((*found)[i], Level::kCondition, inner, depth + 1));
    }
    return schemas;
  }

  // An int-or-string repeats itself as anyOf: integer, string.
  void SetAlternatives(Schema& schema, const json& source, const std::string& at, int depth) {
    if (schema.type == Type::kIntOrString) return;
    Alternatives all;
    all.all_of = List(source, "allOf", at, depth);
    all.any_of = List(source, "anyOf", at, depth);
    all.one_of = List(source, "oneOf", at, depth);
    if (const auto none = source.find("not"); none != source.end()) {
      all.none_of = Build(*none, Level::kCondition, at + ".not", depth + 1);
    }
    const bool any =
        !all.all_of.empty() || !all.any_of.empty() || !all.one_of.empty() || all.none_of != nullptr;
    if (any) schema.alternatives = std::make_shared<Alternatives>(std::move(all));
  }

  void AddTypeAndMeta(Schema& schema, const json& source, const std::string& at, int depth) {
    const SchemaRef pod = BuiltIn("", "v1", "Pod");
    const std::set<std::string> names = {"apiVersion", "kind", "metadata"};
    MustHave(schema, names);
    for (const std::string& name : names) {
      const Field* own = schema.Find(name);
      Field& field = schema.fields[static_cast<std::size_t>(own - schema.fields.data())];
      field = *pod->Find(name);
      if (field.name == "metadata") field.schema = Meta(field.schema, source, at, depth);
    }
  }

  // ObjectMeta with what the schema asks of the name.
  SchemaRef Meta(const SchemaRef& standard, const json& source, const std::string& at, int depth) {
    const json* properties = Member(Member(&source, "properties"), "metadata");
    properties = Member(properties, "properties");
    if (properties == nullptr) return standard;
    auto meta = std::make_shared<Schema>(*standard);
    meta->type_name.clear();
    for (Field& field : meta->fields) {
      if (const json* own = Member(properties, field.name);
          own != nullptr && (field.name == "name" || field.name == "generateName")) {
        const std::string inner =
            fmt::format("{}.properties[metadata].properties[{}]", at, field.name);
        field.schema = Build(*own, Level::kField, inner, depth + 1);
      }
    }
    return meta;
  }

  static const json* Member(const json* object, std::string_view name) {
    if (object == nullptr || !object->is_object()) return nullptr;
    const auto found = object->find(name);
    return found == object->end() ? nullptr : &*found;
  }

  void CheckListKeys(const Schema& schema, const std::string& at) {
    if (schema.list_type != ListType::kMap) return;
    const std::string field = at + ".x-kubernetes-list-map-keys";
    if (schema.list_map_keys.empty()) {
      problems_.Add(RequiredValue(field, "must not be empty if x-kubernetes-list-type is map"));
    }
    for (const std::string& key : schema.list_map_keys) {
      const Field* found = schema.items == nullptr ? nullptr : schema.items->Find(key);
      if (found == nullptr || found->schema->type == Type::kAny) {
        problems_.AddBy([&] {
          return InvalidValue(
              field, schema.list_map_keys, "entries must all be names of item properties");
        });
      } else if (!found->required && !found->schema->default_value) {
        problems_.Add(RequiredValue(
            fmt::format("{}.items.properties[{}].default", at, key),
            "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
            "required property"));
      }
    }
  }

  void CheckDefault(const Schema& schema, const std::string& at) {
    if (!schema.default_value) return;
    for (Problem& problem : Validate(schema, *schema.default_value)) {
      if (problem.field == "<nil>") continue;
      problem.field = at + ".default" + (problem.field.empty() ? "" : ".") + problem.field;
      problems_.Add(std::move(problem));
    }
  }

  ProblemList& problems_;
  std::map<std::string, std::shared_ptr<const RE2>> patterns_;
};

}  // namespace

std::vector<Problem> SchemaProblems(const json& open_api_v3_schema, const std::string& field) {
  ProblemList problems;
  const SchemaRef schema = Builder(problems).Build(open_api_v3_schema, Level::kRoot, field, 0);
  CheckRulesAreSupported(*schema, field, problems);
  return std::move(problems).Take();
}

Result<SchemaRef> FromCustomResource(const json& open_api_v3_schema) {
  ProblemList problems;
  SchemaRef schema =
      Builder(problems).Build(open_api_v3_schema, Level::kRoot, "openAPIV3Schema", 0);
  if (problems.empty()) return schema;
  const Problem& first = problems.first().front();
  return Fail(Code::kInvalidArgument, first.field + ": " + first.message);
}

}  // namespace strata::schema
