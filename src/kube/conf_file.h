#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"

namespace strata::kube {

// A configuration file that may change: edited, replaced, or swapped by a kubelet behind a link.
class ConfFile {
 public:
  explicit ConfFile(std::string path) : path_(std::move(path)) {}

  // What it holds, if that was not read before: the text or why there is none. Nothing while the
  // file is what it was. COST: one system call then.
  [[nodiscard]] std::optional<Result<std::string>> ReadIfNew();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string mark_;  // of the file as last read: where it is, how long, how old
};

}  // namespace strata::kube
