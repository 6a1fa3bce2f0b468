#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/known_pod.h"
#include "base/clock.h"
#include "base/result.h"

namespace strata::device_plugin {

struct KnownPods {
  std::vector<agent::KnownPod> pods;
  // "namespace/pod" of the Node's lock; only from a source that shows pods the kubelet has not
  // seen.
  std::optional<std::string> lock_owner;
};

// Where the pods of this node are known from. Thread-safe.
class PodSource {
 public:
  PodSource() = default;
  PodSource(const PodSource&) = delete;
  PodSource& operator=(const PodSource&) = delete;
  virtual ~PodSource() = default;

  // How it is called in the annotation strata.sh/agent: "pods-api", "pods", "lock".
  [[nodiscard]] virtual std::string name() const = 0;
  // Whether it can be used at all: the first source that is there is used, also when it then fails.
  [[nodiscard]] virtual bool Available() const = 0;
  // Returns within `limit`, with an error when there is no answer by then.
  [[nodiscard]] virtual Result<KnownPods> List(Duration limit) = 0;
};

// A source that gets a PodList in JSON from somewhere: the kubelet's HTTPS port, or the API server
// with the lock of the Node. `fetch` keeps to its limit.
class JsonPodSource final : public PodSource {
 public:
  struct Answer {
    std::string pod_list;
    std::optional<std::string> lock_owner;
  };
  using Fetch = std::function<Result<Answer>(Duration limit)>;

  JsonPodSource(std::string name, std::string resource, Fetch fetch)
      : name_(std::move(name)), resource_(std::move(resource)), fetch_(std::move(fetch)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] bool Available() const override { return true; }
  [[nodiscard]] Result<KnownPods> List(Duration limit) override;

 private:
  const std::string name_;
  const std::string resource_;
  const Fetch fetch_;
};

}  // namespace strata::device_plugin
