#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "page/cluster_columns.h"

// What a viewer may see, and pictures of the cluster that show no more than that.
namespace strata::page {

using Namespaces = std::set<std::string, std::less<>>;

// Nodes and HyperNodes are for all viewers: who may not list them sees nothing at all.
struct Scope {
  bool everything = true;      // jobs and pods of every namespace
  bool queues = true;          // the queues, with what they have
  Namespaces namespaces = {};  // unless `everything`: jobs and pods of these

  [[nodiscard]] bool Sees(std::string_view ns) const {
    return everything || namespaces.contains(ns);
  }
  // Scopes with the same key see the same; "" sees everything.
  [[nodiscard]] std::string Key() const;
};

// The holder of a GPU whose name is not shown.
inline constexpr Place kHidden = -2;

// The picture without the names of what `scope` does not see: GPUs keep their states, such jobs
// look as if they had gone. `known` are the namespaces that there are. Pure.
[[nodiscard]] ClusterColumns HideJobs(ClusterColumns columns,
                                      const Scope& scope,
                                      const Namespaces& known);

// The text with each "namespace/name" of a hidden namespace as "(hidden)"; a command that names
// such a namespace is hidden as a whole. Pure.
[[nodiscard]] std::string HideNames(std::string_view text,
                                    const Scope& scope,
                                    const Namespaces& known);
// The same of all texts and keys in a document.
void HideNames(nlohmann::ordered_json& document, const Scope& scope, const Namespaces& known);

}  // namespace strata::page
