#include "report/render_queues.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "json/dump.h"
#include "model/amount_format.h"

namespace strata {
namespace {

using Json = nlohmann::ordered_json;
using Align = TextTable::Align;

double At(const Amounts& amounts, ResourceId resource) {
  return resource.index() < amounts.size() ? amounts[resource.index()] : 0;
}

// cpu and memory, then by name; with those of `limits` that no node has.
std::vector<ResourceId> InOrder(const ResourceNames& names, const ResourceLimits& limits = {}) {
  std::vector<ResourceId> order;
  for (std::size_t i = 0; i < names.size(); ++i) order.push_back(IdAt<ResourceId>(i));
  for (const auto& [resource, limit] : limits) {
    if (IsAbsent(resource)) order.push_back(resource);
  }
  const auto key = [&](ResourceId id) {
    const bool common = id == kCpu || id == kMemory;
    return std::pair(!common, std::string_view(names.name(id)));
  };
  std::sort(
      order.begin(), order.end(), [&](ResourceId a, ResourceId b) { return key(a) < key(b); });
  return order;
}

// ---- for people

std::string Number(std::string_view resource, double amount) {
  constexpr double kMax = 9.2e18;
  if (amount > kMax) return "-";
  return FormatNumber(resource, std::llround(amount));
}

bool IsShown(const QueueReport::Row& row, ResourceId resource) {
  if (row.capability.contains(resource)) return true;
  for (const Amounts* amounts : {&row.allocated, &row.request, &row.guarantee}) {
    if (At(*amounts, resource) > 0) return true;
  }
  return row.deserved && At(*row.deserved, resource) > 0;
}

// What is shown of an idle queue without limits: a device, else CPUs.
ResourceId MainResource(const QueueReport::Row& row, const ResourceNames& names) {
  for (const ResourceId resource : InOrder(names)) {
    const bool device = names.name(resource).find('/') != std::string::npos;
    if (device && At(row.left, resource) > 0) return resource;
  }
  return kCpu;
}

std::vector<ResourceId> ShownOf(const QueueReport::Row& row, const ResourceNames& names) {
  std::vector<ResourceId> shown = InOrder(names, row.capability);
  std::erase_if(shown, [&](ResourceId resource) { return !IsShown(row, resource); });
  if (shown.empty() && row.state == "Open") shown.push_back(MainResource(row, names));
  return shown;
}

// Allocated, request, deserved, guarantee, capability, limit and what is left of one resource.
std::vector<TextTable::Cell> AmountCells(const QueueReport::Row& row,
                                         const ResourceNames& names,
                                         ResourceId resource) {
  const std::string& name = names.name(resource);
  const auto optional = [&](const std::optional<Amounts>& amounts) {
    return amounts ? Number(name, At(*amounts, resource)) : std::string("-");
  };
  const auto capability = row.capability.find(resource);
  return {{Number(name, At(row.allocated, resource))},
          {Number(name, At(row.request, resource))},
          {optional(row.deserved)},
          {Number(name, At(row.guarantee, resource))},
          {capability == row.capability.end() ? "-" : FormatNumber(name, capability->second)},
          {optional(row.real_capability)},
          {Number(name, std::floor(At(row.left, resource))),
           At(row.left, resource) > 0 ? Ink::kGreen : Ink::kDim}};
}

void AddRows(const QueueReport::Row& row, const ResourceNames& names, TextTable& table) {
  const Ink ink = row.state == "Open" ? Ink::kGreen : Ink::kYellow;
  std::vector<TextTable::Cell> head = {
      {row.name},
      {row.state, ink},
      {row.parent.empty() ? "-" : row.parent},
      {std::to_string(row.weight)},
      {row.share ? fmt::format("{:.6f}", *row.share) : "-"},
      {fmt::format("{}/{}", row.jobs - row.waiting.size(), row.jobs)}};
  bool first = true;
  for (const ResourceId resource : ShownOf(row, names)) {
    std::vector<TextTable::Cell> cells = first ? head : std::vector<TextTable::Cell>(head.size());
    cells.push_back({names.name(resource)});
    for (TextTable::Cell& cell : AmountCells(row, names, resource)) {
      cells.push_back(std::move(cell));
    }
    table.AddRow(std::move(cells));
    first = false;
  }
  if (!first) return;
  head.insert(head.end(), 8, {"-"});
  table.AddRow(std::move(head));
}

std::vector<TextTable::Column> WaitingColumns() {
  return {{"QUEUE", Align::kLeft, 0, 8},
          {"JOB", Align::kLeft, 0, 16},
          {"PHASE"},
          {"REASON", Align::kLeft, 0, 12}};
}

void AddWaiting(const std::string& queue,
                const std::vector<QueueReport::Job>& waiting,
                const TextStyle& style,
                TextTable& table) {
  for (const QueueReport::Job& job : waiting) {
    table.AddRow({{queue}, {job.name}, {job.phase, Ink::kYellow}, {job.reason, Ink::kYellow}});
    table.AddText(Wrap(job.message, 4, style));
  }
}

// ---- for programs

// Cores, bytes, pieces; a whole number is written as one.
Json NumberOf(std::string_view resource, double amount) {
  const double number = UnitOf(resource) == ResourceUnit::kMilli ? amount / 1000 : amount;
  constexpr double kExact = 9007199254740992;  // 2^53
  if (number == std::floor(number) && std::abs(number) < kExact) {
    return static_cast<std::int64_t>(number);
  }
  return number;
}

Json AmountsOf(const Amounts& amounts, const ResourceNames& names) {
  Json json = Json::object();
  for (const ResourceId resource : InOrder(names)) {
    const double amount = At(amounts, resource);
    if (amount == 0 || !std::isfinite(amount)) continue;
    json[names.name(resource)] = NumberOf(names.name(resource), amount);
  }
  return json;
}

// Zeros stay: a capability of 0 is a limit, and a missing one is none.
Json LimitsOf(const Amounts& limits, const ResourceNames& names) {
  Json json = Json::object();
  for (const ResourceId resource : InOrder(names)) {
    const double amount = At(limits, resource);
    if (!std::isfinite(amount)) continue;
    json[names.name(resource)] = NumberOf(names.name(resource), amount);
  }
  return json;
}

Json WaitingOf(const std::vector<QueueReport::Job>& waiting) {
  Json json = Json::object();
  for (const QueueReport::Job& job : waiting) {
    json[job.name] = {{"phase", job.phase}, {"reason", job.reason}, {"message", job.message}};
  }
  return json;
}

Json ToJson(const QueueReport::Row& row, const ResourceNames& names) {
  Json json = Json::object();
  json["state"] = row.state;
  json["parent"] = row.parent;
  json["weight"] = row.weight;
  json["priority"] = row.priority;
  json["share"] = row.share ? Json(*row.share) : Json();
  json["deserved"] = row.deserved ? AmountsOf(*row.deserved, names) : Json();
  json["allocated"] = AmountsOf(row.allocated, names);
  json["request"] = AmountsOf(row.request, names);
  json["guarantee"] = AmountsOf(row.guarantee, names);
  json["capability"] = Json::object();
  for (const ResourceId resource : InOrder(names, row.capability)) {
    const auto it = row.capability.find(resource);
    if (it == row.capability.end()) continue;
    const std::string& name = names.name(resource);
    json["capability"][name] = NumberOf(name, static_cast<double>(it->second));
  }
  json["realCapability"] = row.real_capability ? LimitsOf(*row.real_capability, names) : Json();
  json["left"] = AmountsOf(row.left, names);
  json["jobs"] = row.jobs;
  json["waiting"] = WaitingOf(row.waiting);
  return json;
}

}  // namespace

std::string RenderTable(const QueueReport& report,
                        const ResourceNames& names,
                        const TextStyle& style) {
  TextTable table({{"QUEUE", Align::kLeft, 0, 8},
                   {"STATE"},
                   {"PARENT", Align::kLeft, 5},
                   {"WEIGHT", Align::kRight, 3},
                   {"SHARE", Align::kRight, 4},
                   {"PLACED", Align::kRight, 1},
                   {"RESOURCE", Align::kLeft, 0, 8},
                   {"ALLOCATED", Align::kRight},
                   {"REQUEST", Align::kRight, 2},
                   {"DESERVED", Align::kRight},
                   {"GUARANTEE", Align::kRight, 7},
                   {"CAPABILITY", Align::kRight, 6},
                   {"LIMIT", Align::kRight},
                   {"LEFT", Align::kRight}});
  for (const QueueReport::Row& row : report.rows) AddRows(row, names, table);
  std::string out = table.Render(style);
  TextTable waiting(WaitingColumns());
  std::size_t count = report.elsewhere.size();
  for (const QueueReport::Row& row : report.rows) {
    count += row.waiting.size();
    AddWaiting(row.name, row.waiting, style, waiting);
  }
  AddWaiting("-", report.elsewhere, style, waiting);
  out += count == 0 ? "\nNo job waits.\n" : "\n" + waiting.Render(style);
  const std::string_view how = report.hierarchical ? " with a hierarchy of queues" : "";
  out += report.plugin.empty() ? "\nNo plugin divides the cluster among the queues.\n"
                               : fmt::format("\nShares by {}{}.\n", report.plugin, how);
  return out;
}

std::string RenderQueue(const QueueReport& report,
                        const ResourceNames& names,
                        const TextStyle& style) {
  const QueueReport::Row& row = report.rows.front();
  const std::string how = report.plugin.empty() ? "no plugin" : report.plugin;
  std::string out =
      fmt::format("Queue:     {}\nState:     {}\nParent:    {}\nWeight:    {}\nPriority:  {}\n",
                  row.name,
                  row.state,
                  row.parent.empty() ? "-" : row.parent,
                  row.weight,
                  row.priority);
  out += fmt::format(
      "Share:     {} (by {})\n", row.share ? fmt::format("{:.6f}", *row.share) : "-", how);
  out += fmt::format(
      "Jobs:      {} placed, {} waiting\n\n", row.jobs - row.waiting.size(), row.waiting.size());
  TextTable table({{"RESOURCE"},
                   {"ALLOCATED", Align::kRight},
                   {"REQUEST", Align::kRight},
                   {"DESERVED", Align::kRight},
                   {"GUARANTEE", Align::kRight, 1},
                   {"CAPABILITY", Align::kRight},
                   {"LIMIT", Align::kRight},
                   {"LEFT", Align::kRight}});
  for (const ResourceId resource : InOrder(names, row.capability)) {
    if (!IsShown(row, resource) && At(row.left, resource) < 1) continue;
    std::vector<TextTable::Cell> cells = {{names.name(resource)}};
    for (TextTable::Cell& cell : AmountCells(row, names, resource)) {
      cells.push_back(std::move(cell));
    }
    table.AddRow(std::move(cells));
  }
  out += table.Render(style);
  if (row.state != "Open") out += "\nIt takes no jobs: strata queue open " + row.name + "\n";
  if (row.waiting.empty()) return out + "\nNo job waits.\n";
  TextTable waiting(WaitingColumns());
  AddWaiting(row.name, row.waiting, style, waiting);
  return out + "\n" + waiting.Render(style);
}

std::string RenderQueueJson(const QueueReport& report, const ResourceNames& names) {
  Json json = {{"name", report.rows.front().name}};
  json.update(ToJson(report.rows.front(), names));
  return DumpPrettyJson(json) + "\n";
}

std::string RenderJson(const QueueReport& report, const ResourceNames& names) {
  Json json = Json::object();
  json["plugin"] = report.plugin;
  json["hierarchical"] = report.hierarchical;
  json["queues"] = Json::object();
  for (const QueueReport::Row& row : report.rows) json["queues"][row.name] = ToJson(row, names);
  json["jobsWithoutQueue"] = WaitingOf(report.elsewhere);
  return DumpPrettyJson(json) + "\n";
}

}  // namespace strata
