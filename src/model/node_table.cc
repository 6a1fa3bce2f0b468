#include "model/node_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "model/slots.h"

namespace strata {
namespace {

bool HasPreference(const NodeSpec& spec) {
  return std::any_of(spec.taints.begin(), spec.taints.end(), [](const Taint& taint) {
    return taint.effect == TaintEffect::kPreferNoSchedule;
  });
}

template <typename T, typename Range>
void AddToBag(std::vector<T>& bag, const Range& items, int sign) {
  if (sign > 0) {
    bag.insert(bag.end(), items.begin(), items.end());
  } else {
    for (const T& item : items) bag.erase(std::find(bag.begin(), bag.end(), item));
  }
}

}  // namespace

std::optional<NodeId> NodeTable::Find(std::string_view name) const {
  const auto it = ids_.find(name);
  return it == ids_.end() ? std::nullopt : std::optional(it->second);
}

const TopologyDomains& NodeTable::Domains(std::string_view label) const {
  if (const auto known = domains_.find(label); known != domains_.end()) return known->second;
  TopologyDomains domains;
  domains.of_node.assign(specs_.size(), TopologyDomains::kNone);
  std::map<std::string_view, std::uint32_t> numbers;
  for (const NodeId id : live_) {
    const auto value = spec(id).labels.find(label);
    if (value == spec(id).labels.end()) continue;
    const auto number =
        numbers.try_emplace(value->second, static_cast<std::uint32_t>(numbers.size()));
    domains.of_node[id.index()] = number.first->second;
  }
  domains.count = static_cast<std::uint32_t>(numbers.size());
  return domains_.emplace(label, std::move(domains)).first->second;
}

void NodeTable::BeginEpoch() {
  ++epoch_;
  domains_.clear();
}

void NodeTable::GrowTables() {
  const std::size_t rows = specs_.size();
  const std::size_t stride = names_.size();
  if (rows <= allocatable_.rows() && stride <= allocatable_.stride()) return;
  for (ResourceTable* table : {&allocatable_, &used_, &idle_, &future_idle_}) {
    table->Reserve(rows, stride);
  }
}

NodeId NodeTable::Add(const std::string& name) {
  const auto id = TakeSlot<NodeId>(free_, specs_.size());
  if (id.index() == specs_.size()) {
    specs_.emplace_back();
    open_.emplace_back();
    nonzero_.emplace_back();
    ports_.emplace_back();
    tasks_on_.emplace_back();
    versions_.emplace_back();
    spec_versions_.emplace_back();
  }
  live_.insert(std::lower_bound(live_.begin(), live_.end(), id), id);
  ids_.emplace(name, id);
  return id;
}

Result<NodeTable::Upserted> NodeTable::Upsert(NodeSpec spec) {
  const auto known = Find(spec.name);
  Upserted done;
  if (known) {
    const NodeSpec& before = specs_[known->index()];
    done.room_before = before.allocatable;
    done.counted_before = CountedOf(before);
    done.new_gpus = before.gpus != spec.gpus;
  }
  done.added = !known;
  done.new_report = !known || specs_[known->index()].numa != spec.numa;
  TRY_ASSIGN(total_allocatable_,
             ReplaceInTotal(names_, total_allocatable_, done.room_before, spec.allocatable));
  const NodeId id = done.id = known ? *known : Add(spec.name);
  GrowTables();
  allocatable_.Sub(id.index(), done.counted_before);
  allocatable_.Add(id.index(), CountedOf(spec));
  for (ResourceTable* table : {&idle_, &future_idle_}) {
    table->Sub(id.index(), done.room_before);
    table->Add(id.index(), spec.allocatable);
  }
  gpu_kinds_.Replace(id, known ? &specs_[id.index()] : nullptr, &spec);
  gpu_nodes_ -= specs_[id.index()].gpus ? 1 : 0;
  gpu_nodes_ += spec.gpus ? 1 : 0;
  with_preferences_ -= HasPreference(specs_[id.index()]) ? 1 : 0;
  with_preferences_ += HasPreference(spec) ? 1 : 0;
  BeginEpoch();
  spec_versions_[id.index()] = Touch(id);
  open_[id.index()] = spec.taints.empty() && !spec.unschedulable;
  specs_[id.index()] = std::move(spec);
  FollowLargest(done.room_before, specs_[id.index()].allocatable);
  return done;
}

// A GPU that the kubelet does not hand out either is of no use.
Resources NodeTable::CountedOf(const NodeSpec& spec) const {
  if (!spec.gpus) return spec.allocatable;
  const Amount handed_out = NamedGpus(names_, spec.allocatable);
  return WithGpus(names_, spec.allocatable, std::min(handed_out, AmountOf(*spec.gpus)));
}

void NodeTable::Remove(NodeId id) {
  CHECK(tasks_on_[id.index()].empty());
  NodeSpec& spec = specs_[id.index()];
  with_preferences_ -= HasPreference(spec) ? 1 : 0;
  total_allocatable_.Sub(spec.allocatable);
  gpu_kinds_.Replace(id, &spec, nullptr);
  gpu_nodes_ -= spec.gpus ? 1 : 0;
  for (ResourceTable* table : {&allocatable_, &used_, &idle_, &future_idle_}) {
    table->ClearRow(id.index());
  }
  BeginEpoch();
  ids_.erase(ids_.find(spec.name));
  live_.erase(std::lower_bound(live_.begin(), live_.end(), id));
  free_.push_back(id.value);
  FollowLargest(spec.allocatable, {});
  spec = {};
}

void NodeTable::FollowLargest(const Resources& before, const Resources& after) {
  largest_.resize(allocatable_.stride(), 0);
  with_largest_.resize(allocatable_.stride(), 0);
  for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    const Amount had = before.Get(IdAt<ResourceId>(i));
    const Amount has = after.Get(IdAt<ResourceId>(i));
    if (has == had) continue;
    if (has > largest_[i]) {
      largest_[i] = has;
      with_largest_[i] = 1;
      ++largest_version_;
      continue;
    }
    if (has == largest_[i]) ++with_largest_[i];
    if (had == largest_[i] && --with_largest_[i] == 0) FindLargest(i);
  }
}

void NodeTable::FindLargest(std::size_t resource) {
  largest_[resource] = 0;
  with_largest_[resource] = 0;
  for (const NodeId id : live_) {
    const Amount has = specs_[id.index()].allocatable.Get(IdAt<ResourceId>(resource));
    if (has < largest_[resource] || has == 0) continue;
    with_largest_[resource] = has == largest_[resource] ? with_largest_[resource] + 1 : 1;
    largest_[resource] = has;
  }
  ++largest_version_;
}

void NodeTable::Account(
    TaskId id, const Task& task, const ClassSpec& spec, const Resources& counted, int sign) {
  const std::size_t row = task.node.index();
  if (UsesNode(task.status)) {
    used_.AddSigned(row, counted, sign);
    idle_.AddSigned(row, spec.request, -sign);
    nonzero_[row].cpu += sign * spec.nonzero_cpu;
    nonzero_[row].memory += sign * spec.nonzero_memory;
    AddToBag(ports_[row], spec.host_ports, sign);
  } else {
    pipelined_tasks_ += static_cast<std::size_t>(sign);
  }
  if (BlocksFuture(task.status)) {
    future_idle_.AddSigned(row, spec.request, -sign);
  } else {
    releasing_tasks_ += static_cast<std::size_t>(sign);
  }
  AddToBag(tasks_on_[row], std::span(&id, 1), sign);
  Touch(task.node);
}

}  // namespace strata
