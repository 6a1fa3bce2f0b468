#include "live/bind_book.h"

#include <utility>

#include <fmt/format.h>

namespace strata::live {
namespace {

kube::ObjectReference ReferToPod(const kube::PodName& pod) {
  return {.kind = "Pod",
          .api_version = "v1",
          .ns = pod.ns,
          .name = pod.name,
          .uid = pod.uid,
          .version = ""};
}

}  // namespace

std::string NameOf(const kube::PodName& pod) {
  return pod.ns + "/" + pod.name;
}

void BindBook::Begin(const kube::PodName& pod) {
  auto [it, end] = failed_.equal_range(retries_.Due(NameOf(pod)));
  while (it != end) it = NameOf(it->second) == NameOf(pod) ? failed_.erase(it) : std::next(it);
}

kube::EventNote BindBook::Take(const Binder::Outcome& outcome, net::SteadyTime now) {
  const kube::PodName& pod = outcome.order.pod;
  const std::string name = NameOf(pod);
  if (outcome.kind == Binder::Outcome::Kind::kBound) {
    retries_.Forget(name);
    return {ReferToPod(pod),
            kube::EventNote::Type::kNormal,
            "Scheduled",
            fmt::format("Successfully assigned {} to {}", name, outcome.order.node)};
  }
  failed_.emplace(retries_.Failed(name, now), pod);
  return {ReferToPod(pod),
          kube::EventNote::Type::kWarning,
          "FailedScheduling",
          "bind: " + outcome.error};
}

std::vector<kube::PodName> BindBook::TakeDue(net::SteadyTime now) {
  std::vector<kube::PodName> due;
  while (!failed_.empty() && now >= failed_.begin()->first) {
    due.push_back(std::move(failed_.extract(failed_.begin()).mapped()));
  }
  return due;
}

std::optional<net::SteadyTime> BindBook::NextDue() const {
  if (failed_.empty()) return std::nullopt;
  return failed_.begin()->first;
}

}  // namespace strata::live
