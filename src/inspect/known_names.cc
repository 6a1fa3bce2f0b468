#include "inspect/known_names.h"

#include <algorithm>
#include <utility>

namespace strata::inspect {
namespace {

Status Add(LiveCluster& cluster,
           const kube::Resource& resource,
           const std::string& ns,
           const std::string& prefix,
           std::vector<std::string>& names) {
  TRY_ASSIGN(const auto listed, cluster.List(resource, ns, {}));
  if (!listed) return {};
  for (const ListedObject& object : *listed) names.push_back(prefix + object.key.name);
  return {};
}

// Takes the value of a flag: "-n" "ml", "--namespace=ml" or "-nml".
bool TakeValue(const std::vector<std::string>& words,
               std::size_t at,
               std::string_view flag,
               std::string& out) {
  const std::string& word = words[at];
  const bool is_short = flag.size() == 2;
  if (word == flag) {
    if (at + 1 < words.size()) out = words[at + 1];
    return true;
  }
  if (!word.starts_with(flag)) return false;
  if (is_short) {
    out = word.substr(flag.size());
  } else if (word[flag.size()] == '=') {
    out = word.substr(flag.size() + 1);
  }
  return true;
}

}  // namespace

Result<std::vector<std::string>> KnownNames(LiveCluster& cluster,
                                            std::string_view kind,
                                            const std::string& ns,
                                            std::string_view word) {
  std::vector<std::string> names;
  if (kind == "jobs") {
    const std::size_t slash = word.find('/');
    const bool named = slash != std::string_view::npos && slash > 0;
    const std::string space = named ? std::string(word.substr(0, slash)) : ns;
    TRY(Add(cluster, kube::kJobs, space, named ? space + "/" : "", names));
  }
  if (kind == "queues") TRY(Add(cluster, kube::kQueues, "", "", names));
  if (kind == "namespaces") TRY(Add(cluster, kube::kNamespaces, "", "", names));
  if (kind == "nodes") TRY(Add(cluster, kube::kNodes, "", "", names));
  if (kind == "nodes" || kind == "hypernodes") TRY(Add(cluster, kube::kHyperNodes, "", "", names));
  std::sort(names.begin(), names.end());
  return names;
}

NamesQuery ReadNamesQuery(const std::vector<std::string>& words) {
  NamesQuery query;
  if (!words.empty()) query.word = words.back();
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    for (const char* flag : {"--namespace", "-n"}) {
      if (TakeValue(words, i, flag, query.ns)) break;
    }
    TakeValue(words, i, "--kubeconfig", query.connection.kubeconfig);
    TakeValue(words, i, "--context", query.connection.context);
  }
  return query;
}

}  // namespace strata::inspect
