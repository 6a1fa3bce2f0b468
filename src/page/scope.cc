#include "page/scope.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"

namespace strata::page {
namespace {

constexpr std::string_view kHiddenName = "(hidden)";

// What names and commands are made of; everything else stands between them.
bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '/' || c == '_';
}

bool IsHiddenNamespace(std::string_view word, const Scope& scope, const Namespaces& known) {
  return known.contains(word) && !scope.Sees(word);
}

void Forget(std::size_t at, JobColumns& jobs) {
  for (auto* column : {&jobs.ns,
                       &jobs.name,
                       &jobs.pod_group,
                       &jobs.phase,
                       &jobs.queue,
                       &jobs.created,
                       &jobs.reason}) {
    (*column)[at].clear();
  }
  for (auto* column : {&jobs.ready, &jobs.total, &jobs.min_available, &jobs.gpus}) {
    (*column)[at] = 0;
  }
  jobs.hypernode[at] = kNowhere;
  jobs.tier[at] = 0;
  jobs.user.erase(at);
  jobs.message.erase(at);
  jobs.nearest.erase(at);
  jobs.helps.erase(at);
}

}  // namespace

std::string Scope::Key() const {
  if (everything && queues) return "";
  return fmt::format("{}{}",
                     queues ? "queues," : ",",
                     everything ? "*" : fmt::format("{}", fmt::join(namespaces, ",")));
}

ClusterColumns HideJobs(ClusterColumns columns, const Scope& scope, const Namespaces& known) {
  if (scope.everything) return columns;
  std::vector<bool> is_hidden;
  for (std::size_t at = 0; at < columns.jobs.ns.size(); ++at) {
    is_hidden.push_back(!scope.Sees(columns.jobs.ns[at]));
    if (is_hidden[at]) Forget(at, columns.jobs);
  }
  const auto hide = [&](Place& job) {
    if (job >= 0 && is_hidden[static_cast<std::size_t>(job)]) job = kHidden;
  };
  for (Place& holder : columns.gpus.holder) hide(holder);
  for (auto& [cell, parts] : columns.gpus.shared) {
    for (GpuPartHeld& held : parts) hide(held.job);
  }
  for (auto& [at, text] : columns.jobs.message) text = HideNames(text, scope, known);
  for (auto& [at, text] : columns.jobs.helps) text = HideNames(text, scope, known);
  return columns;
}

std::string HideNames(std::string_view text, const Scope& scope, const Namespaces& known) {
  if (scope.everything) return std::string(text);
  std::string out;
  std::string_view before;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && IsNameCharacter(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    if (word.empty()) {
      out += text[at++];
      continue;
    }
    at = end;
    const std::size_t slash = word.find('/');
    if (slash != std::string_view::npos && slash + 1 < word.size() &&
        IsHiddenNamespace(word.substr(0, slash), scope, known)) {
      out += kHiddenName;
    } else if ((before == "-n" || before == "--namespace") &&
               IsHiddenNamespace(word, scope, known)) {
      return std::string(kHiddenName);
    } else {
      out += word;
    }
    before = word;
  }
  return out;
}

void HideNames(nlohmann::ordered_json& document, const Scope& scope, const Namespaces& known) {
  if (scope.everything) return;
  if (document.is_string()) {
    document = HideNames(document.get_ref<const std::string&>(), scope, known);
  } else if (document.is_object()) {
    nlohmann::ordered_json hidden = nlohmann::ordered_json::object();
    for (auto& [key, value] : document.items()) {
      HideNames(value, scope, known);
      hidden[HideNames(key, scope, known)] = std::move(value);
    }
    document = std::move(hidden);
  } else if (document.is_array()) {
    for (auto& value : document) HideNames(value, scope, known);
  }
}

}  // namespace strata::page
