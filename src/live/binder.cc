#include "live/binder.h"

#include <atomic>
#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/timestamp.h"
#include "convert/gpu_annotations.h"
#include "convert/gpu_dialect.h"
#include "convert/node_lock.h"
#include "json/access.h"
#include "json/dump.h"
#include "json/parse.h"

namespace strata::live {
namespace {

constexpr Duration kAskAgain = std::chrono::seconds(1);
// A pod that changes all the time is decided again.
constexpr int kMaxBinds = 4;
constexpr int kConflict = 409;

// Nobody has said anything about the pod: the server is away, or not itself, or we may not ask.
bool SaysNothing(const kube::Failure& failure) {
  if (failure.http_status == 0) return failure.cause != net::TransportError::Cause::kTrust;
  return failure.http_status >= 500;
}

// A write to the pod that changes nothing but its version, and shows why.
kube::Call FenceCall(const BindOrder& order, Time now) {
  const auto since = std::chrono::floor<std::chrono::seconds>(now);
  const nlohmann::ordered_json condition = {
      {"type", kBindUnanswered},
      {"status", "True"},
      {"reason", "NoAnswer"},
      {"message",
       fmt::format("the bind to {} at version {} had no answer", order.node, order.pod.version)},
      {"lastTransitionTime", FormatTimestamp(since)}};
  const nlohmann::ordered_json patch = {
      {"metadata", {{"uid", order.pod.uid}}},
      {"status", {{"conditions", nlohmann::ordered_json::array({condition})}}}};
  kube::Call call = kube::PatchCall({kube::kPods, order.pod.ns, order.pod.name, "status"},
                                    {.type = kube::PatchType::kStrategic, .field_manager = ""},
                                    DumpJson(patch));
  call.repeat = kube::Repeat::kHarmless;
  return call;
}

std::string UnixSeconds(Time time) {
  return std::to_string(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count());
}

}  // namespace

// On the thread of client.writes(), but for Bind and IsUnsure.
class Binder::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(kube::Client& client, CallQueue& calls, const Clock& clock)
      : client_(client), calls_(calls), clock_(clock) {}

  // From any thread.
  void Bind(BindOrder order, OnOutcome on_outcome) {
    auto task = std::make_shared<Task>();
    task->order = std::move(order);
    task->on_outcome = std::move(on_outcome);
    Send(task);
  }
  [[nodiscard]] bool IsUnsure() const { return unsure_ > 0; }

  [[nodiscard]] net::Transport& transport() const { return client_.writes(); }
  void Close() { closed_ = true; }

 private:
  struct Task {
    BindOrder order;
    OnOutcome on_outcome;
    int binds = 0;
    std::string error{};  // of the last one
  };
  using TaskRef = std::shared_ptr<Task>;

  void Send(const TaskRef& task) {
    ++task->binds;
    const BindOrder& order = task->order;
    calls_.Submit(PodKey(order.pod.ns, order.pod.name),
                  kube::BindCall(order.pod, order.node, order.annotations),
                  CallQueue::Urgency::kUrgent,
                  [self = shared_from_this(), task](const kube::Reply& reply) {
                    self->TakeAnswer(task, reply);
                  });
  }

  void TakeAnswer(const TaskRef& task, const kube::Reply& reply) {
    if (reply) return Tell(*task, Outcome::Kind::kBound);
    const kube::Failure& failure = reply.error();
    task->error = failure.error.message;
    if (failure.sent == net::TransportError::Sent::kNo || !SaysNothing(failure)) {
      return Read(task, failure.http_status == kConflict);
    }
    ++unsure_;
    Fence(task);
  }

  // What came of a bind that was certainly not carried out: the pod may have a node from before.
  void Read(const TaskRef& task, bool conflict) {
    const kube::PodName& pod = task->order.pod;
    client_.Start(kube::GetCall({kube::kPods, pod.ns, pod.name, ""}),
                  [self = shared_from_this(), task, conflict](const kube::Reply& reply) {
                    if (!reply && reply.error().cause == net::TransportError::Cause::kCancelled) {
                      return;  // the client is closing
                    }
                    self->transport().Post(
                        [self, task, conflict, reply] { self->TakeRead(task, conflict, reply); });
                  });
  }

  void TakeRead(const TaskRef& task, bool conflict, const kube::Reply& reply) {
    if (closed_) return;
    if (!reply && SaysNothing(reply.error())) {
      return Later([this, task, conflict] { Read(task, conflict); });
    }
    const nlohmann::json pod = reply ? ParseJsonOrNull(*reply) : nlohmann::json();
    if (HasNode(pod)) return Tell(*task, Outcome::Kind::kBound);
    kube::PodName& name = task->order.pod;
    const std::string& version = TextAt(pod, {"metadata", "resourceVersion"});
    const bool changed =
        !version.empty() && version != name.version && TextAt(pod, {"metadata", "uid"}) == name.uid;
    if (!conflict || name.version.empty() || !changed || task->binds >= kMaxBinds) {
      return Tell(*task, Outcome::Kind::kFailed);
    }
    name.version = version;
    Send(task);
  }

  void Fence(const TaskRef& task) {
    const kube::PodName& pod = task->order.pod;
    calls_.Submit("fences/" + pod.ns + "/" + pod.name,
                  FenceCall(task->order, clock_.Now()),
                  CallQueue::Urgency::kUrgent,
                  [self = shared_from_this(), task](const kube::Reply& reply) {
                    self->TakeFenced(task, reply);
                  });
  }

  void TakeFenced(const TaskRef& task, const kube::Reply& reply) {
    if (!reply && SaysNothing(reply.error())) {
      return Later([this, task] { Fence(task); });
    }
    --unsure_;
    const bool bound = reply && HasNode(ParseJsonOrNull(*reply));
    Tell(*task, bound ? Outcome::Kind::kBound : Outcome::Kind::kFailed);
  }

  void Later(std::function<void()> task) {
    transport().After(kAskAgain, [self = shared_from_this(), task = std::move(task)] {
      if (!self->closed_) task();
    });
  }

  static bool HasNode(const nlohmann::json& pod) {
    return !TextAt(pod, {"spec", "nodeName"}).empty();
  }

  static void Tell(const Task& task, Outcome::Kind kind) {
    task.on_outcome({kind, task.order, kind == Outcome::Kind::kBound ? "" : task.error});
  }

  kube::Client& client_;
  CallQueue& calls_;
  const Clock& clock_;
  bool closed_ = false;
  std::atomic<int> unsure_ = 0;  // binds
};

BindOrder MakeBindOrder(const ClusterState& state, const CycleResult::Bind& bind, Time now) {
  const Task& task = state.workload().task(bind.task);
  const std::string& node = state.nodes().spec(bind.node).name;
  const std::size_t slash = task.name.find('/');
  BindOrder order{.pod = {task.name.substr(0, slash), task.name.substr(slash + 1), task.uid},
                  .node = node,
                  .annotations = {}};
  const GpuClaim& gpus = state.workload().GpusOf(bind.task);
  if (gpus.empty()) return order;
  const GpuNames& names = NamesOf(gpus.dialect);
  for (const auto& [key, value] : WriteGpuClaim(gpus, node)) order.annotations[key] = value;
  order.annotations[std::string(names.time)] = UnixSeconds(now);
  order.annotations[std::string(names.bind_phase)] = kAllocatingPhase;
  SetBindTime(order, now);
  return order;
}

void SetBindTime(BindOrder& order, Time now) {
  for (const GpuDialect dialect : kGpuDialects) {
    const GpuNames& names = NamesOf(dialect);
    if (!order.annotations.contains(std::string(names.bind_phase))) continue;
    order.annotations[std::string(names.bind_time)] = UnixSeconds(now);
  }
}

std::string PodKey(const std::string& ns, const std::string& name) {
  return "pods/" + ns + "/" + name;
}

Binder::Binder(kube::Client& client, CallQueue& calls, const Clock& clock)
    : impl_(std::make_shared<Impl>(client, calls, clock)) {}

Binder::~Binder() {
  impl_->transport().Run([this] { impl_->Close(); });
}

void Binder::Bind(BindOrder order, OnOutcome on_outcome) {
  impl_->Bind(std::move(order), std::move(on_outcome));
}

bool Binder::IsUnsure() const {
  return impl_->IsUnsure();
}

}  // namespace strata::live
