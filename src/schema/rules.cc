#include "schema/rules.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/utf8.h"
#include "cel/expression.h"
#include "schema/list_keys.h"

namespace strata::schema {
namespace {

using nlohmann::json;

class SupportCheck {
 public:
  explicit SupportCheck(ProblemList& problems) : problems_(problems) {}

  // `unordered` is the nearest list above whose items cannot be told apart, "" for none.
  void Visit(const Schema& schema, const std::string& at, const std::string& unordered) {
    if (!schema.may_have_rules) return;
    for (std::size_t i = 0; i < schema.rules.size(); ++i) {
      Check(schema.rules[i], fmt::format("{}.x-kubernetes-validations[{}].rule", at, i), unordered);
    }
    if (schema.items != nullptr) {
      const bool is_list = schema.type == Type::kArray;
      const bool keyed = !is_list || schema.list_type == ListType::kMap;
      Visit(*schema.items,
            at + (is_list ? ".items" : ".additionalProperties"),
            keyed || !unordered.empty() ? unordered : at);
    }
    for (const Field& field : schema.fields) {
      Visit(*field.schema,
            fmt::format("{}.properties[{}]", at, CutUtf8(field.name, kShownKey)),
            unordered);
    }
  }

 private:
  void Check(const Rule& rule, const std::string& at, const std::string& unordered) {
    if (Trim(rule.rule).empty()) return;  // reported as missing
    if (rule.expression == nullptr) {
      problems_.Add(InvalidValue(at, rule.rule, "compilation failed: " + rule.unsupported));
    } else if (rule.expression->uses_old_self() && !unordered.empty()) {
      problems_.Add(InvalidValue(
          at,
          rule.rule,
          fmt::format(
              "oldSelf cannot be used on the uncorrelatable portion of the schema within {}",
              unordered)));
    }
  }

  ProblemList& problems_;
};

std::string_view Words(const Rule& rule) {
  return rule.message.empty() ? std::string_view(rule.rule) : rule.message;
}

// The message about a rule that does not hold, or that cannot be evaluated.
std::string Detail(const Rule& rule, const Result<bool>& result) {
  if (result) return rule.message.empty() ? "failed rule: " + rule.rule : rule.message;
  if (result.error().code == Code::kUnavailable) {
    return fmt::format(
        "no further validation rules will be run due to call cost exceeds limit for rule: {}",
        Words(rule));
  }
  return fmt::format("{} evaluating rule: {}", result.error().message, Words(rule));
}

class RuleCheck {
 public:
  explicit RuleCheck(ProblemList& problems) : problems_(problems) {}

  void Visit(const Schema& schema, const json& value, const json* before, const Path& path) {
    if (value.is_null() || !schema.may_have_rules) return;
    for (const Rule& rule : schema.rules) Check(rule, value, before, path);
    if (value.is_array() && schema.items != nullptr && schema.type == Type::kArray) {
      Items(schema, value, before, path);
    }
    if (!value.is_object()) return;
    for (const auto& [key, member] : value.get_ref<const json::object_t&>()) {
      const json* old = before == nullptr ? nullptr : Member(*before, key);
      if (const Field* field = schema.Find(key)) {
        Visit(*field->schema, member, old, path.Key(key));
      } else if (schema.type == Type::kMap && schema.items != nullptr) {
        Visit(*schema.items, member, old, path.Key(key));
      }
    }
  }

 private:
  static const json* Member(const json& object, const std::string& key) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }

  // An item of a list with keys is compared with the previous one of the same keys.
  void Items(const Schema& schema, const json& list, const json* before, const Path& path) {
    const bool keyed = schema.list_type == ListType::kMap && schema.items->may_have_rules;
    std::map<json, const json*> old;
    if (keyed && before != nullptr && before->is_array()) {
      for (const json& item : *before) {
        if (item.is_object()) old.emplace(KeysOf(schema, item), &item);
      }
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const json* same = nullptr;
      if (!old.empty() && list[i].is_object()) {
        const auto found = old.find(KeysOf(schema, list[i]));
        if (found != old.end()) same = found->second;
      }
      Visit(*schema.items, list[i], same, path.Index(i));
    }
  }

  void Check(const Rule& rule, const json& value, const json* before, const Path& path) {
    const bool applies = rule.expression != nullptr && budget_.left > 0 &&
                         (before != nullptr || !rule.expression->uses_old_self());
    if (!applies) return;
    const Result<bool> result = rule.expression->Evaluate(value, before, budget_);
    if (result && *result) return;
    problems_.AddBy([&] {
      std::string field = path.ToString() + rule.field_path;
      const std::string detail = Detail(rule, result);
      Problem problem = value.is_structured() ? InvalidValueOmitted(std::move(field), detail)
                                              : InvalidValue(std::move(field), value, detail);
      if (!rule.reason.empty()) problem.reason = rule.reason;
      return problem;
    });
  }

  ProblemList& problems_;
  cel::Budget budget_;
};

}  // namespace

void CheckRulesAreSupported(const Schema& schema, const std::string& field, ProblemList& problems) {
  SupportCheck(problems).Visit(schema, field, "");
}

void CheckRules(const Schema& schema,
                const json& object,
                const json* before,
                ProblemList& problems) {
  RuleCheck(problems).Visit(schema, object, before, Path());
}

}  // namespace strata::schema
