#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace strata::store {

// One object as it is on disk.
struct Row {
  std::string_view resource;  // "pods"
  std::string_view ns;
  std::string_view name;
  std::int64_t version = 0;
  std::string_view body;
};

// One change of a batch. The texts belong to the caller.
struct Write {
  enum class Kind : std::uint8_t { kPut, kDelete };
  // kGivesBack: deletes something, or is a step to that, and adds a kilobyte at most. Such writes
  // may use the space that is kept for them when the disk is full.
  enum class Space : std::uint8_t { kTakes, kGivesBack };
  Kind kind = Kind::kPut;
  Space space = Space::kTakes;
  Row row;  // version and body mean nothing for a deletion
};

// kUnavailable: "/data/strata.db: no space left on device". A smaller batch may succeed.
[[nodiscard]] Error DiskFull(const std::string& path);
[[nodiscard]] bool IsDiskFull(const Error& error);

// The objects of a folder, and a few settings. Everything that was committed is there after kill -9
// and after the power went. Not thread-safe, but not bound to a thread either.
//
// Failures name the file: kUnavailable (disk full, I/O error: the batch is not there, a later one
// may succeed; it may be there if the process ends before another batch succeeds), kInternal (a
// file or row that is damaged, cannot be read, or is not ours).
// A full disk can be cleared by deleting. The database file has its space on the disk before a
// commit returns, so that the write-ahead log can always be emptied. It leaves 8 MiB of the disk to
// the log, and other 8 MiB, a file, are kept for batches that only give space back: each is enough
// for a batch of 4 MiB of objects.
class Journal {
 public:
  Journal() = default;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  virtual ~Journal() = default;

  // The version of the last commit, 0 when there was none.
  [[nodiscard]] virtual Result<std::int64_t> LastVersion() = 0;
  // Calls `visit` for every row, in order of resource, namespace and name.
  [[nodiscard]] virtual Status Load(const std::function<void(const Row&)>& visit) = 0;
  // All of it or nothing, in the order given. Returns once it is durable. DiskFull when there is no
  // space for it.
  [[nodiscard]] virtual Status Commit(std::span<const Write> writes, std::int64_t last_version) = 0;

  // Small things that must outlive the process: a CA, a token.
  [[nodiscard]] virtual Result<std::optional<std::string>> Setting(const std::string& name) = 0;
  // All of them or none; others stay.
  [[nodiscard]] virtual Status SetSettings(const std::map<std::string, std::string>& settings) = 0;
};

// Opens `folder`, which is made (mode 0700, with its parents) when it is not there. kConflict when
// another process has it; it is this one's until the Journal goes.
[[nodiscard]] Result<std::unique_ptr<Journal>> OpenJournal(const std::string& folder);

}  // namespace strata::store
