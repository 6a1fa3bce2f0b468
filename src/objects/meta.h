#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/quantity.h"
#include "model/labels.h"

// What every Kubernetes object has. Object types are plain values: read and validated by
// objects/load.h, with defaults filled in, then free to copy and change.
namespace strata::objects {

// Resource name -> amount. Amounts that were read are never negative.
using ResourceList = std::map<std::string, Quantity, std::less<>>;

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  bool controller = false;
};

struct Metadata {
  std::string_view kind;  // "Pod": a constant of the type, never dangling
  std::string name;
  std::string ns;   // "" for cluster-scoped kinds
  std::string uid;  // the name when the object has none
  Labels labels;
  Labels annotations;
  Time created{};  // the epoch when the object has none
  std::optional<Time> deleted;
  std::vector<OwnerReference> owners;
  std::string source;  // the file it came from, as messages name it; "" when made by us
  std::string origin;  // what it was made from: "jobs.yaml: Job default/train"; "" when it was read
};

// A condition of a Node, Pod or PodGroup.
struct Condition {
  std::string type;
  std::string status;  // "True", "False", "Unknown"
  std::string reason;
  std::string message;
  std::string transition_id;  // PodGroup only
  std::optional<Time> last_transition;
};

// "default/train", or "rack-1" for a cluster-scoped object.
[[nodiscard]] std::string NamespacedName(const Metadata& meta);
// "Pod default/train": how messages name the object.
[[nodiscard]] std::string ObjectName(const Metadata& meta);
// "jobs.yaml: Job default/train"; of what we made the object it was made from before that.
[[nodiscard]] std::string Location(const Metadata& meta);
// The value, or nullptr.
[[nodiscard]] const std::string* Find(const Labels& labels, std::string_view key);
[[nodiscard]] const Condition* FindCondition(const std::vector<Condition>& conditions,
                                             std::string_view type);

}  // namespace strata::objects
