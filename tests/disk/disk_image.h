#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace strata::testing {

// What becomes of writes that were not synced when the power goes.
enum class Unsynced : std::uint8_t { kLost, kKept, kByChance };

// Text, and zeros after it.
struct Bytes {
  std::string text;
  std::int64_t size = 0;

  void Write(std::int64_t offset, std::string_view data);
  void Resize(std::int64_t to);
};

// One file: what is on the disk, and what only the system's cache has, in the order of the calls.
class FileImage {
 public:
  FileImage() = default;
  explicit FileImage(Bytes bytes) : durable_(std::move(bytes)) {}

  void Write(std::int64_t offset, std::string_view data);
  void Resize(std::int64_t to);
  void Sync();
  // The system forgets what it could not write, as Linux does: a later sync does not write it.
  void FailSync() { unsynced_.clear(); }

  // By chance: each write is there, or not, or its first sectors are.
  [[nodiscard]] Bytes AfterPowerLoss(Unsynced unsynced, Random& random) const;

 private:
  struct Change {
    enum class Kind : std::uint8_t { kWrite, kResize };
    Kind kind;
    std::int64_t where;  // the offset, or the new size
    std::string data;
  };
  static void Apply(const Change& change, Bytes& to);

  Bytes durable_;
  std::vector<Change> unsynced_;
};

// The files and folders below a folder. A name is on the disk when its folder was synced.
class DiskImage {
 public:
  using File = std::shared_ptr<FileImage>;  // null: a folder

  // Begins with what is below `root`.
  explicit DiskImage(std::string root);

  // Whether it is below the folder.
  [[nodiscard]] bool Has(std::string_view path) const;
  // The folder itself, too.
  [[nodiscard]] bool Covers(std::string_view path) const { return path == root_ || Has(path); }
  [[nodiscard]] File Find(const std::string& path) const;
  File MakeFile(const std::string& path);
  void MakeFolder(const std::string& path) { now_[path] = nullptr; }
  void Remove(const std::string& path) { now_.erase(path); }
  void SyncFolder(const std::string& path);

  // The power goes and comes back: writes what is left to the real folder.
  void LosePower(Unsynced unsynced, Random& random);

 private:
  using Names = std::map<std::string, File>;  // parents before what is in them

  [[nodiscard]] Names NamesAfterPowerLoss(Unsynced unsynced, Random& random) const;

  std::string root_;
  Names now_;
  Names durable_;
};

}  // namespace strata::testing
