#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "objects/node.h"

namespace strata::discovery {

// Which node of the cluster a host of the fabric is. Immutable.
class HostNames {
 public:
  // Without a list of nodes every host is taken for a node, under its name made valid.
  HostNames() = default;
  explicit HostNames(std::span<const objects::Node> nodes);

  // By node name, then short name, then kubernetes.io/hostname, then InternalIP, each in lower
  // case. None for a host that is not a node, for a name that several nodes share, and for names
  // that stand for any machine ("localhost").
  [[nodiscard]] std::optional<std::string> Find(std::string_view host) const;

  [[nodiscard]] bool knows_nodes() const { return knows_nodes_; }

 private:
  // Name -> node; "" where several nodes claim it.
  using Index = std::map<std::string, std::string, std::less<>>;
  static void Claim(Index& index, const std::string& name, const std::string& node);

  bool knows_nodes_ = false;
  Index by_name_;
  Index by_short_name_;
  Index by_hostname_;
  Index by_address_;
};

}  // namespace strata::discovery
