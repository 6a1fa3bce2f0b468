#include "kube/conf_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "kube/kubeconfig.h"

namespace strata::kube {
namespace {

std::string MarkOf(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return fmt::format("error {}", errno);
  return fmt::format("{} {} {} {}.{}",
                     found.st_dev,
                     found.st_ino,
                     found.st_size,
                     found.st_mtim.tv_sec,
                     found.st_mtim.tv_nsec);
}

}  // namespace

std::optional<Result<std::string>> ConfFile::ReadIfNew() {
  std::string mark = MarkOf(path_);  // before the text: a change in between is seen the next time
  if (mark == mark_) return std::nullopt;
  mark_ = std::move(mark);
  return SystemSurroundings().read(path_);
}

}  // namespace strata::kube
