#include "patch/strategic_list.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "json/dump.h"

namespace strata::patch {
namespace {

using Json = nlohmann::json;

Result<const Json*> Identity(const Json& item, const std::string& key) {
  if (key.empty()) return &item;
  if (!item.is_object()) return NoMergeKey(item, key);
  const auto found = item.find(key);
  if (found == item.end()) return NoMergeKey(item, key);
  return &*found;
}

struct Placed {
  std::optional<std::size_t> before = std::nullopt;  // where it was
  std::size_t rank = 0;  // its place among those that are sorted with it
  Json* item = nullptr;
};

void SortByRank(std::vector<Placed>& items) {
  std::stable_sort(
      items.begin(), items.end(), [](const Placed& a, const Placed& b) { return a.rank < b.rank; });
}

// `others` go before the first of `named` that came after them.
Json Interleave(const std::vector<Placed>& others, const std::vector<Placed>& named) {
  Json merged = Json::array();
  std::size_t next_named = 0;
  for (const Placed& other : others) {
    while (next_named < named.size()) {
      const Placed& rival = named[next_named];
      if (other.before && rival.before && *other.before < *rival.before) break;
      merged.push_back(std::move(*rival.item));
      ++next_named;
    }
    merged.push_back(std::move(*other.item));
  }
  for (; next_named < named.size(); ++next_named) {
    merged.push_back(std::move(*named[next_named].item));
  }
  return merged;
}

}  // namespace

Result<ElementKind> KindOfElements(const Json& object, const Json& patch) {
  std::optional<ElementKind> kind;
  for (const Json* list : {&object, &patch}) {
    for (const Json& item : *list) {
      if (item.is_array()) return Fail(Code::kInvalidArgument, "lists of lists are not supported");
      const ElementKind own = item.is_object() ? ElementKind::kMaps : ElementKind::kScalars;
      if (kind.value_or(own) != own) {
        return Fail(Code::kInvalidArgument, "list element types are not identical");
      }
      kind = own;
    }
  }
  return kind.value_or(ElementKind::kScalars);
}

Result<Places> PlacesOf(const Json& list, const std::string& key) {
  Places places;
  for (std::size_t i = 0; i < list.size(); ++i) {
    TRY_ASSIGN(const Json* identity, Identity(list[i], key));
    places.emplace(*identity, i);
  }
  return places;
}

Status EraseWithKey(Json& list, const std::string& key, const std::set<Json>& gone) {
  if (gone.empty()) return {};
  Json kept = Json::array();
  for (Json& item : list) {
    TRY_ASSIGN(const Json* identity, Identity(item, key));
    if (!gone.contains(*identity)) kept.push_back(std::move(item));
  }
  list = std::move(kept);
  return {};
}

void DropRepeated(Json& list) {
  Json kept = Json::array();
  Places seen;
  for (Json& item : list) {
    if (seen.emplace(item, 0).second) kept.push_back(std::move(item));
  }
  list = std::move(kept);
}

Status PutInOrder(Json& merged, const Json& wanted, const Json& before, const std::string& key) {
  TRY_ASSIGN(const Places order, PlacesOf(wanted, key));
  TRY_ASSIGN(const Places old, PlacesOf(before, key));
  std::vector<Placed> named;
  std::vector<Placed> others;
  for (Json& item : merged) {
    TRY_ASSIGN(const Json* identity, Identity(item, key));
    Placed placed{.item = &item};
    if (const auto found = old.find(*identity); found != old.end()) placed.before = found->second;
    if (const auto found = order.find(*identity); found != order.end()) {
      placed.rank = found->second;
      named.push_back(placed);
    } else {
      placed.rank = placed.before.value_or(old.size());
      others.push_back(placed);
    }
  }
  SortByRank(named);
  SortByRank(others);
  merged = Interleave(others, named);
  return {};
}

tl::unexpected<Error> NoMergeKey(const Json& item, const std::string& key) {
  return Fail(Code::kInvalidArgument,
              "map: " + GoText(item) + " does not contain declared merge key: " + key);
}

std::string GoText(const Json& value) {
  if (value.is_null()) return "<nil>";
  if (const auto* text = value.get_ptr<const std::string*>()) return *text;
  if (!value.is_structured()) return DumpJson(value);
  std::string text = value.is_object() ? "map[" : "[";
  const std::size_t start = text.size();
  for (const auto& [key, child] : value.items()) {
    if (text.size() > start) text += ' ';
    if (value.is_object()) text += key + ":";
    text += GoText(child);
  }
  return text + "]";
}

}  // namespace strata::patch
