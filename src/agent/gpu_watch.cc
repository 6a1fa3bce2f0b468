#include "agent/gpu_watch.h"

#include <algorithm>
#include <utility>

#include "kube/pacing.h"

namespace strata::agent {
namespace {

bool IsSame(const Machine& a, const Machine& b) {
  return a.node == b.node && a.minors == b.minors && a.driver == b.driver && a.clique == b.clique;
}

}  // namespace

GpuWatch::GpuWatch(Options options, std::string_view health_text)
    : options_(std::move(options)),
      life_(ReadDriverLife(options_.proc, options_.sysfs)),
      health_(options_.health) {
  health_.Restore(ReadHealthText(health_text, life_));
  told_health_ = this->health_text();
}

GpuWatch::Turned GpuWatch::Turn(net::SteadyTime now, Duration limit) {
  Turned turned;
  if (library_ == nullptr && now >= next_open_) Open(now);
  if (library_ != nullptr && now >= next_probe_) Probe(now, turned);
  if (now >= next_ask_) AskAll(now);
  Conclude(turned);
  const Duration free = std::min(limit, NextDue() - now);
  if (turned.changed || free <= Duration(0)) return turned;  // first tell it
  if (xids_ == nullptr) {
    turned.to_wait = free;
    return turned;
  }
  WaitForXid(now, free, turned);
  Conclude(turned);
  return turned;
}

net::SteadyTime GpuWatch::NextDue() const {
  const net::SteadyTime driver = library_ == nullptr ? next_open_ : next_probe_;
  return std::min(driver, next_ask_);
}

void GpuWatch::Open(net::SteadyTime now) {
  std::string error;
  library_ = nvml::Library::Open(options_.nvml, error);
  if (library_ == nullptr) {
    Close(now, error);
    return;
  }
  away_.clear();
  next_probe_ = now;
  next_ask_ = std::max(next_ask_, now);
  DriverLife life = ReadDriverLife(options_.proc, options_.sysfs);
  if (life != life_) health_.ForgetErrors();
  life_ = std::move(life);
}

void GpuWatch::Close(net::SteadyTime now, std::string why) {
  xids_.reset();
  library_.reset();
  away_ = std::move(why);
  next_open_ = now + kube::Doubled(std::chrono::seconds(1), failures_++, kMaxAway);
}

void GpuWatch::Probe(net::SteadyTime now, Turned& turned) {
  next_probe_ = now + kProbePeriod;
  nvml::ProbeReport report = nvml::Probe(library_->api(), options_.sysfs);
  inventory_.Take(report);
  if (xids_ == nullptr) xids_ = nvml::XidWatch::Open(library_->api(), report.problems);
  for (const std::string& problem : report.problems) {
    const bool known =
        std::find(told_problems_.begin(), told_problems_.end(), problem) != told_problems_.end();
    if (!known) turned.problems.push_back(problem);
  }
  told_problems_ = std::move(report.problems);
}

// Where no GPU answers, the driver itself may have to be opened again.
void GpuWatch::AskAll(net::SteadyTime now) {
  next_ask_ = now + kAnswerPeriod;
  std::vector<std::string> answering;
  if (library_ != nullptr) answering = nvml::FindAnswering(library_->api());
  health_.TakeAnswers(answering, now);
  if (library_ == nullptr) return;
  if (!answering.empty() || machine_->node.gpus.empty()) {
    failures_ = 0;
  } else {
    Close(now, "no GPU answers");
  }
}

void GpuWatch::WaitForXid(net::SteadyTime now, Duration limit, Turned& turned) {
  nvml::XidEvent event;
  switch (xids_->Wait(limit, event)) {
    case nvml::XidWatch::Outcome::kEvent:
      turned.xids.push_back(event.xid);
      health_.TakeXid(event.uuid, event.xid, now);
      break;
    case nvml::XidWatch::Outcome::kNothing:
      break;
    case nvml::XidWatch::Outcome::kFailed:  // a new watch at the next probe, which is due soon
      xids_.reset();
      next_probe_ = std::min(next_probe_, now + std::chrono::seconds(1));
      next_ask_ = now;
      break;
  }
}

void GpuWatch::Conclude(Turned& turned) {
  for (HealthChange& change : health_.TakeChanges()) turned.changes.push_back(std::move(change));
  Machine machine = inventory_.MachineNow(health_, options_.shares);
  if (!IsSame(machine, *machine_)) {
    machine_ = std::make_shared<const Machine>(std::move(machine));
    turned.changed = true;
  }
  if (std::string text = health_text(); text != told_health_) {
    told_health_ = std::move(text);
    turned.changed = true;
  }
}

}  // namespace strata::agent
