#include "page/columns_json.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "json/dump.h"

namespace strata::page {
namespace {

using Json = nlohmann::ordered_json;

// ---- single values

Json ToJson(const std::string& text) {
  return text;
}
Json ToJson(std::int32_t number) {
  return number;
}
Json ToJson(std::int64_t number) {
  return number;
}
// A whole number is written as one.
Json ToJson(double number) {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (number == std::floor(number) && std::abs(number) < kExact) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}
Json ToJson(const std::vector<Place>& places) {
  return places;
}
Json ToJson(const std::vector<GpuPartHeld>& parts) {
  Json list = Json::array();
  for (const GpuPartHeld& held : parts) list.push_back({held.job, held.part});
  return list;
}
Json ToJson(const std::vector<NearMiss>& misses) {
  Json list = Json::array();
  for (const NearMiss& miss : misses) {
    list.push_back({{"hyperNode", miss.hypernode},
                    {"tier", miss.tier},
                    {"takes", miss.takes},
                    {"of", miss.of}});
  }
  return list;
}

// Pairs of a value and how often it comes in a row, from `begin` to `end`.
Json Runs(const std::vector<Place>& cells, std::size_t begin, std::size_t end) {
  Json runs = Json::array();
  for (std::size_t i = begin; i < end;) {
    std::size_t next = i + 1;
    while (next < end && cells[next] == cells[i]) ++next;
    runs.push_back(cells[i]);
    runs.push_back(next - i);
    i = next;
  }
  return runs;
}

// Adds a member that is not there yet. Not operator[] or emplace(), which would search for it.
void Append(Json& object, std::size_t at, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(std::to_string(at), std::move(value));
}

// ---- columns: each visitor is called with a key and the column before and after

// Writes the whole of the second.
class Whole {
 public:
  explicit Whole(Json& out) : out_(out) {}

  template <typename T>
  void operator()(const char* key, const std::vector<T>&, const std::vector<T>& column) {
    Json& list = out_[key] = Json::array();
    for (const T& value : column) list.push_back(ToJson(value));
  }
  template <typename T>
  void operator()(const char* key, const Sparse<T>&, const Sparse<T>& column) {
    Json& object = out_[key] = Json::object();
    for (const auto& [at, value] : column) Append(object, at, ToJson(value));
  }
  void Cells(const char* key, const std::string&, const std::string& cells) { out_[key] = cells; }
  void Cells(const char* key, const std::vector<Place>&, const std::vector<Place>& cells) {
    out_[key] = Runs(cells, 0, cells.size());
  }
  [[nodiscard]] Whole Below(const char* key) { return Whole(out_[key] = Json::object()); }

 private:
  Json& out_;
};

// Writes what differs; leaves out what does not.
class Difference {
 public:
  explicit Difference(Json& out) : out_(out) {}

  template <typename T>
  void operator()(const char* key, const std::vector<T>& before, const std::vector<T>& after) {
    Json entries = Json::object();
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (i < before.size() && before[i] == after[i]) continue;
      Append(entries, i, ToJson(after[i]));
    }
    Put(key, std::move(entries));
  }
  template <typename T>
  void operator()(const char* key, const Sparse<T>& before, const Sparse<T>& after) {
    Json entries = Json::object();
    for (const auto& [at, value] : before) {
      if (!after.contains(at)) Append(entries, at, nullptr);
    }
    for (const auto& [at, value] : after) {
      const auto found = before.find(at);
      if (found != before.end() && found->second == value) continue;
      Append(entries, at, ToJson(value));
    }
    Put(key, std::move(entries));
  }
  template <typename List>
  void Cells(const char* key, const List& before, const List& after) {
    Json entries = Json::object();
    for (std::size_t i = 0; i < after.size();) {
      if (before[i] == after[i]) {
        ++i;
        continue;
      }
      std::size_t end = i + 1;
      while (end < after.size() && before[end] != after[end]) ++end;
      Append(entries, i, CellsOf(after, i, end));
      i = end;
    }
    Put(key, std::move(entries));
  }
  [[nodiscard]] Difference Below(const char* key) { return Difference(out_[key] = Json::object()); }

 private:
  static Json CellsOf(const std::string& cells, std::size_t begin, std::size_t end) {
    return cells.substr(begin, end - begin);
  }
  static Json CellsOf(const std::vector<Place>& cells, std::size_t begin, std::size_t end) {
    return Runs(cells, begin, end);
  }
  void Put(const char* key, Json entries) {
    if (!entries.empty()) out_[key] = std::move(entries);
  }

  Json& out_;
};

template <typename Visitor>
void Visit(const HyperNodeColumns& a, const HyperNodeColumns& b, Visitor visit) {
  visit("name", a.name, b.name);
  visit("tier", a.tier, b.tier);
  visit("parent", a.parent, b.parent);
  visit("nodes", a.nodes, b.nodes);
  visit("fits", a.fits, b.fits);
  visit("reason", a.reason, b.reason);
}

template <typename Visitor>
void VisitAmounts(const std::vector<std::string>& resources,
                  const std::vector<std::vector<double>>& a,
                  const std::vector<std::vector<double>>& b,
                  Visitor visit) {
  for (std::size_t i = 0; i < resources.size(); ++i) visit(resources[i].c_str(), a[i], b[i]);
}

template <typename Visitor>
void Visit(const std::vector<std::string>& resources,
           const NodeColumns& a,
           const NodeColumns& b,
           Visitor visit) {
  visit("name", a.name, b.name);
  visit("leaf", a.leaf, b.leaf);
  visit("also", a.also, b.also);
  visit("note", a.note, b.note);
  visit("gpus", a.gpus, b.gpus);
  visit("links", a.links, b.links);
  VisitAmounts(resources, a.used, b.used, visit.Below("used"));
  VisitAmounts(resources, a.allocatable, b.allocatable, visit.Below("allocatable"));
}

template <typename Visitor>
void Visit(const GpuColumns& a, const GpuColumns& b, Visitor visit) {
  visit.Cells("state", a.state, b.state);
  visit.Cells("holder", a.holder, b.holder);
  visit("shared", a.shared, b.shared);
}

template <typename Visitor>
void Visit(const JobColumns& a, const JobColumns& b, Visitor visit) {
  visit("namespace", a.ns, b.ns);
  visit("name", a.name, b.name);
  visit("podGroup", a.pod_group, b.pod_group);
  visit("phase", a.phase, b.phase);
  visit("queue", a.queue, b.queue);
  visit("ready", a.ready, b.ready);
  visit("total", a.total, b.total);
  visit("minAvailable", a.min_available, b.min_available);
  visit("gpus", a.gpus, b.gpus);
  visit("hyperNode", a.hypernode, b.hypernode);
  visit("tier", a.tier, b.tier);
  visit("created", a.created, b.created);
  visit("reason", a.reason, b.reason);
  visit("user", a.user, b.user);
  visit("message", a.message, b.message);
  visit("nearest", a.nearest, b.nearest);
  visit("helps", a.helps, b.helps);
}

Json FitJson(const ClusterColumns& columns) {
  Json fit = {{"pod", Json::object()}, {"tiers", Json::array()}};
  for (const auto& [name, quantity] : columns.pod) fit["pod"][name] = quantity.ToString();
  for (const TopologyReport::TierFit& tier : columns.tiers) {
    fit["tiers"].push_back({{"tier", tier.tier},
                            {"tierName", tier.tier_name},
                            {"hyperNode", tier.hypernode},
                            {"pods", tier.pods}});
  }
  return fit;
}

template <typename Visitor>
void VisitAll(const ClusterColumns& a, const ClusterColumns& b, Visitor visit) {
  Visit(a.hypernodes, b.hypernodes, visit.Below("hyperNodes"));
  Visit(b.resources, a.nodes, b.nodes, visit.Below("nodes"));
  Visit(a.gpus, b.gpus, visit.Below("gpus"));
  Visit(a.jobs, b.jobs, visit.Below("jobs"));
}

void AddStamp(const Stamp& stamp, Json& out) {
  out["epoch"] = stamp.epoch;
  out["revision"] = stamp.revision;
  out["time"] = FormatTimestamp(stamp.time);
}

// Takes out objects in which nothing is left; whether it is one.
bool Prune(Json& value) {
  if (!value.is_object()) return false;
  for (auto it = value.begin(); it != value.end();) {
    it = Prune(*it) ? value.erase(it) : std::next(it);
  }
  return value.empty();
}

}  // namespace

std::string RenderCluster(const ClusterColumns& columns, const Stamp& stamp) {
  Json out = {{"version", 1}};
  AddStamp(stamp, out);
  out["fit"] = FitJson(columns);
  VisitAll(columns, columns, Whole(out));
  Json& shapes = out["linkShapes"] = Json::array();
  for (const LinkShape& shape : columns.link_shapes) {
    shapes.push_back({{"gpus", shape.gpus}, {"links", shape.links}, {"groups", shape.groups}});
  }
  return DumpJson(out);
}

std::string RenderChange(const ClusterColumns& before,
                         const ClusterColumns& after,
                         const Stamp& stamp) {
  Json differences = Json::object();
  VisitAll(before, after, Difference(differences));
  Prune(differences);
  Json fit = FitJson(after);
  if (fit != FitJson(before)) differences["fit"] = std::move(fit);
  if (differences.empty()) return "";
  Json out = Json::object();
  AddStamp(stamp, out);
  out.update(differences);
  return DumpJson(out);
}

}  // namespace strata::page
