#include "store/sync_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "store/disk_space.h"
#include "store/system_failure.h"

namespace strata::store {

Status SyncFolder(const std::string& folder) {
  const OpenFile opened(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.file() < 0) return errno == EACCES ? Status() : Status(SystemFailure(folder));
  if (fsync(opened.file()) == 0 || errno == EINVAL || errno == EROFS) return {};
  return SystemFailure(folder);
}

}  // namespace strata::store
