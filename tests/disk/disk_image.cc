#include "tests/disk/disk_image.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

namespace strata::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSector = 512;

std::string ParentOf(const std::string& path) {
  return fs::path(path).parent_path().string();
}

Bytes ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Bytes bytes;
  bytes.text.assign(std::istreambuf_iterator<char>(file), {});
  bytes.size = static_cast<std::int64_t>(bytes.text.size());
  return bytes;
}

void WriteFile(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes.text;
  fs::resize_file(path, static_cast<std::uintmax_t>(bytes.size));
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

}  // namespace

void Bytes::Write(std::int64_t offset, std::string_view data) {
  const auto at = static_cast<std::size_t>(offset);
  if (text.size() < at + data.size()) text.resize(at + data.size());
  std::copy(data.begin(), data.end(), text.begin() + offset);
  size = std::max(size, offset + static_cast<std::int64_t>(data.size()));
}

void Bytes::Resize(std::int64_t to) {
  if (to < static_cast<std::int64_t>(text.size())) text.resize(static_cast<std::size_t>(to));
  size = to;
}

void FileImage::Write(std::int64_t offset, std::string_view data) {
  unsynced_.push_back({Change::Kind::kWrite, offset, std::string(data)});
}

void FileImage::Resize(std::int64_t to) {
  unsynced_.push_back({Change::Kind::kResize, to, ""});
}

void FileImage::Sync() {
  for (const Change& change : unsynced_) Apply(change, durable_);
  unsynced_.clear();
}

void FileImage::Apply(const Change& change, Bytes& to) {
  if (change.kind == Change::Kind::kWrite) {
    to.Write(change.where, change.data);
  } else {
    to.Resize(change.where);
  }
}

Bytes FileImage::AfterPowerLoss(Unsynced unsynced, Random& random) const {
  Bytes left = durable_;
  if (unsynced == Unsynced::kLost) return left;
  for (Change change : unsynced_) {
    if (unsynced == Unsynced::kByChance) {
      const std::uint64_t fate = random.Below(3);
      if (fate == 0) continue;
      if (fate == 1) change.data.resize(random.Below(change.data.size() / kSector + 1) * kSector);
    }
    Apply(change, left);
  }
  return left;
}

DiskImage::DiskImage(std::string root) : root_(std::move(root)) {
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root_)) {
    const std::string path = entry.path().string();
    now_[path] = entry.is_directory() ? nullptr : std::make_shared<FileImage>(ReadFile(path));
  }
  durable_ = now_;
}

bool DiskImage::Has(std::string_view path) const {
  return path.size() > root_.size() && path.starts_with(root_) && path[root_.size()] == '/';
}

DiskImage::File DiskImage::Find(const std::string& path) const {
  const auto found = now_.find(path);
  return found == now_.end() ? nullptr : found->second;
}

DiskImage::File DiskImage::MakeFile(const std::string& path) {
  return now_[path] = std::make_shared<FileImage>();
}

void DiskImage::SyncFolder(const std::string& path) {
  std::erase_if(durable_, [&](const auto& entry) { return ParentOf(entry.first) == path; });
  for (const auto& [name, file] : now_) {
    if (ParentOf(name) == path) durable_[name] = file;
  }
}

DiskImage::Names DiskImage::NamesAfterPowerLoss(Unsynced unsynced, Random& random) const {
  std::set<std::string> names;
  for (const auto& [name, file] : now_) names.insert(name);
  for (const auto& [name, file] : durable_) names.insert(name);
  Names left;
  for (const std::string& name : names) {
    const bool as_now =
        unsynced == Unsynced::kKept || (unsynced == Unsynced::kByChance && random.Below(2) == 0);
    const Names& from = as_now ? now_ : durable_;
    const auto found = from.find(name);
    const std::string parent = ParentOf(name);
    if (found == from.end() || (parent != root_ && !left.contains(parent))) continue;
    left[name] = found->second;
  }
  return left;
}

void DiskImage::LosePower(Unsynced unsynced, Random& random) {
  Names left = NamesAfterPowerLoss(unsynced, random);
  for (const fs::directory_entry& entry : fs::directory_iterator(root_)) fs::remove_all(entry);
  for (auto& [name, file] : left) {
    if (file == nullptr) {
      fs::create_directory(name);
      fs::permissions(name, fs::perms::owner_all);
      continue;
    }
    Bytes bytes = file->AfterPowerLoss(unsynced, random);
    WriteFile(name, bytes);
    file = std::make_shared<FileImage>(std::move(bytes));
  }
  now_ = left;
  durable_ = std::move(left);
}

}  // namespace strata::testing
