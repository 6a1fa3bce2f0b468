#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"

// Which writes get the last of a disk. Deletions need space before they give any back: SQLite
// appends what it changes to the write-ahead log.
namespace strata::store {

// An open file.
class OpenFile {
 public:
  OpenFile() = default;
  explicit OpenFile(int file) : file_(file) {}
  OpenFile(OpenFile&& other) noexcept;
  OpenFile& operator=(OpenFile&& other) noexcept;
  ~OpenFile();

  [[nodiscard]] int file() const { return file_; }  // -1: none

 private:
  int file_ = -1;
};

// The space of a file on the disk, taken before it is needed: what is written below that size
// later finds room. The file itself gets longer.
class FileSpace {
 public:
  FileSpace() = default;
  // REQUIRES: the file exists.
  [[nodiscard]] static Result<FileSpace> Of(const std::string& path);

  // At least `bytes`; some more where there is room, so that few calls are needed. DiskFull unless
  // `left` bytes are left on the disk.
  [[nodiscard]] Status Take(std::int64_t bytes, std::int64_t left);

 private:
  std::string path_;
  OpenFile file_;
};

// Space that is kept for deletions, as a file of zeros.
class Reserve {
 public:
  // More than one deletion needs of the write-ahead log (journal.h, Write::Space).
  static constexpr std::int64_t kBytes = 8 << 20;

  explicit Reserve(std::string path) : path_(std::move(path)) {}

  // Takes the space if it is not taken. False when the disk has too little: then none is taken.
  bool Fill();
  // Gives the space to the disk.
  void Release();

 private:
  std::string path_;
  OpenFile file_;
  bool full_ = false;
};

}  // namespace strata::store
