#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "objects/readers.h"
#include "objects/syntax.h"

namespace strata::objects {
namespace {

using OpWord = std::pair<std::string_view, SelectorOp>;

constexpr std::array<OpWord, 4> kLabelOps = {{{"In", SelectorOp::kIn},
                                              {"NotIn", SelectorOp::kNotIn},
                                              {"Exists", SelectorOp::kExists},
                                              {"DoesNotExist", SelectorOp::kDoesNotExist}}};
constexpr std::array<OpWord, 6> kNodeOps = {{{"In", SelectorOp::kIn},
                                             {"NotIn", SelectorOp::kNotIn},
                                             {"Exists", SelectorOp::kExists},
                                             {"DoesNotExist", SelectorOp::kDoesNotExist},
                                             {"Gt", SelectorOp::kGt},
                                             {"Lt", SelectorOp::kLt}}};
constexpr std::array<OpWord, 2> kFieldOps = {
    {{"In", SelectorOp::kIn}, {"NotIn", SelectorOp::kNotIn}}};

void CheckValueCount(const Cursor& values, SelectorOp op, std::size_t count) {
  switch (op) {
    case SelectorOp::kIn:
    case SelectorOp::kNotIn:
      if (count == 0) values.Refuse("operator In or NotIn wants at least one value");
      return;
    case SelectorOp::kExists:
    case SelectorOp::kDoesNotExist:
      if (count != 0) values.Refuse("operator Exists or DoesNotExist wants no value");
      return;
    case SelectorOp::kGt:
    case SelectorOp::kLt:
      if (count != 1) values.Refuse("operator Gt or Lt wants exactly one value");
      return;
  }
}

void SortValues(std::vector<std::string>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

template <std::size_t kSize>
void ReadRequirement(const Cursor& at,
                     const std::array<OpWord, kSize>& operators,
                     Requirement& out) {
  at.At("key").Required().Read(out.key);
  at.At("operator").Required().ReadEnum(out.op, operators);
  const Cursor values = at.At("values");
  values.Read(out.values);
  SortValues(out.values);
  CheckValueCount(values, out.op, out.values.size());
}

void ReadFieldRequirement(const Cursor& at, Requirement& out) {
  ReadRequirement(at, kFieldOps, out);
  if (at.ok() && out.key != "metadata.name") at.At("key").UnknownWord(out.key, {"metadata.name"});
  if (at.ok() && out.values.size() != 1) {
    at.At("values").Refuse("a field requirement wants exactly one value");
  }
}

void ReadNodeSelectorTerm(const Cursor& at, NodeSelectorTerm& out) {
  at.At("matchExpressions").ReadList(out.labels, [](const Cursor& item, Requirement& requirement) {
    ReadRequirement(item, kNodeOps, requirement);
    CheckLabelKey(item.At("key"), requirement.key);
  });
  at.At("matchFields").ReadList(out.fields, ReadFieldRequirement);
  std::sort(out.labels.begin(), out.labels.end());
  std::sort(out.fields.begin(), out.fields.end());
}

}  // namespace

void ReadLabelSelector(const Cursor& at, LabelSelector& out) {
  Labels labels;
  ReadLabels(at.At("matchLabels"), labels);
  for (auto& [key, value] : labels) {
    out.requirements.push_back(Requirement{key, SelectorOp::kIn, {value}});
  }
  at.At("matchExpressions")
      .ReadList(out.requirements, [](const Cursor& item, Requirement& requirement) {
        ReadRequirement(item, kLabelOps, requirement);
        CheckLabelKey(item.At("key"), requirement.key);
        for (const std::string& value : requirement.values) {
          if (IsLabelValue(value)) continue;
          item.At("values").Refuse(fmt::format("bad label value \"{}\"", value.substr(0, 100)));
        }
      });
  std::sort(out.requirements.begin(), out.requirements.end());
}

void ReadNodeSelectorTerms(const Cursor& at, std::vector<NodeSelectorTerm>& out) {
  at.ReadRules(out, ReadNodeSelectorTerm);
}

void ReadNodeAffinity(const Cursor& at, NodeAffinity& out) {
  const Cursor required = at.At("requiredDuringSchedulingIgnoredDuringExecution");
  if (required.present()) {
    const Cursor terms = required.At("nodeSelectorTerms");
    ReadNodeSelectorTerms(terms, out.required.emplace());
    if (out.required->empty()) {
      terms.Refuse("want at least one term");
      out.required.reset();
    }
  }
  at.At("preferredDuringSchedulingIgnoredDuringExecution")
      .ReadRules(out.preferred, [](const Cursor& item, PreferredTerm& preferred) {
        item.At("weight").Required().Read(preferred.weight, {1, 100});
        ReadNodeSelectorTerm(item.At("preference").Required(), preferred.term);
      });
}

}  // namespace strata::objects
