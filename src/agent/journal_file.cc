#include "agent/journal_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "os/write_all.h"

namespace strata::agent {
namespace {

tl::unexpected<Error> FileFailure(const std::string& what) {
  return Fail(Code::kUnavailable, what + ": " + std::system_category().message(errno));
}

bool ReadAll(int file, std::string& text) {
  std::array<char, 16384> piece{};
  for (;;) {
    const ssize_t got = ::read(file, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

// A new name in a folder is on disk once the folder is.
void SyncFolderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

}  // namespace

Result<std::unique_ptr<JournalFile>> JournalFile::Open(const std::string& path) {
  const std::string lock_path = path + ".lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return FileFailure("open " + lock_path);
  std::unique_ptr<JournalFile> file(new JournalFile(path, lock));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return Fail(Code::kConflict, "journal " + path + " is in use by another process");
  }
  TRY(file->Load());
  return file;
}

JournalFile::~JournalFile() {
  if (file_ >= 0) ::close(file_);
  if (lock_ >= 0) ::close(lock_);
}

Status JournalFile::Load() {
  struct stat found {};
  const bool missing = ::stat(path_.c_str(), &found) != 0;
  incomplete_ = missing || ::stat(MarkerPath().c_str(), &found) == 0;
  if (missing) {  // before there is a file, so that the next process knows, too
    const int marker = ::open(MarkerPath().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (marker < 0) return FileFailure("open " + MarkerPath());
    ::close(marker);
  }
  TRY(OpenForAppend());
  std::string text;
  if (!ReadAll(file_, text)) return FileFailure("read " + path_);
  ReadJournal read = ParseJournal(text);
  if (read.bad_lines > 0) incomplete_ = true;
  if (read.good_bytes < text.size() &&
      ::ftruncate(file_, static_cast<off_t>(read.good_bytes)) != 0) {
    return FileFailure("truncate " + path_);
  }
  journal_ = std::move(read.journal);
  return {};
}

Status JournalFile::OpenForAppend() {
  if (file_ >= 0) ::close(file_);
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file_ < 0) return FileFailure("open " + path_);
  SyncFolderOf(path_);
  return {};
}

void JournalFile::MarkComplete() {
  if (!std::exchange(incomplete_, false)) return;
  ::unlink(MarkerPath().c_str());
}

Status JournalFile::Append(const JournalEntry& entry) {
  const off_t before = ::lseek(file_, 0, SEEK_END);
  if (!os::WriteAll(file_, FormatEntry(entry)) || ::fdatasync(file_) != 0) {
    const auto failure = FileFailure("write " + path_);
    // What was half written must not be the beginning of the next line.
    if (before >= 0 && ::ftruncate(file_, before) != 0) incomplete_ = true;
    return failure;
  }
  journal_.Put(entry);
  return {};
}

Status JournalFile::Replace(Journal journal) {
  const std::string fresh = path_ + ".new";
  const int file = ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return FileFailure("open " + fresh);
  const bool written = os::WriteAll(file, FormatJournal(journal)) && ::fsync(file) == 0 &&
                       std::rename(fresh.c_str(), path_.c_str()) == 0;
  if (!written) {
    const auto failure = FileFailure("write " + fresh);
    ::close(file);
    return failure;
  }
  ::close(std::exchange(file_, file));
  SyncFolderOf(path_);
  journal_ = std::move(journal);
  return {};
}

}  // namespace strata::agent
