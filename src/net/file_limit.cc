#include "net/file_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace strata::net {

std::size_t RaiseFileLimit(std::size_t wanted) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return wanted;
  const rlim_t raised = std::min<rlim_t>(wanted, files.rlim_max);
  if (raised <= files.rlim_cur) return files.rlim_cur;
  const rlimit asked{.rlim_cur = raised, .rlim_max = files.rlim_max};
  return setrlimit(RLIMIT_NOFILE, &asked) == 0 ? raised : files.rlim_cur;
}

}  // namespace strata::net
