#include "objects/read_files.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <istream>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "objects/value.h"

namespace strata::objects {
namespace {

namespace fs = std::filesystem;

bool IsManifest(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// Everything of `in`, with room behind for the JSON parser so that it need not copy.
std::string ReadAll(std::istream& in, std::size_t size_hint) {
  std::string text;
  text.reserve(size_hint + Document::kPadding);
  constexpr std::size_t kChunk = 1U << 20U;
  std::size_t size = 0;
  while (in) {
    text.resize(size + std::max(kChunk, size_hint > size ? size_hint - size : 0));
    in.read(text.data() + size, static_cast<std::streamsize>(text.size() - size));
    size += static_cast<std::size_t>(in.gcount());
  }
  text.resize(size);
  if (text.capacity() - size < Document::kPadding) text.reserve(size + Document::kPadding);
  return text;
}

Result<Source> ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::error_code error;
  if (!in) {
    return Fail(Code::kNotFound, path.string() + ": " + std::generic_category().message(errno));
  }
  const std::uintmax_t size = fs::file_size(path, error);
  Source source{path.string(), ReadAll(in, error ? 0 : static_cast<std::size_t>(size))};
  if (in.bad()) return Fail(Code::kUnavailable, path.string() + ": cannot be read");
  return source;
}

// Manifests below `directory`, by name. Links to directories are not followed: they may go in
// circles.
Result<std::vector<fs::path>> ListManifests(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (IsManifest(entry->path()) && !entry->is_directory(error)) paths.push_back(entry->path());
  }
  if (error) return Fail(Code::kUnavailable, directory.string() + ": " + error.message());
  if (paths.empty()) {
    return Fail(Code::kNotFound,
                directory.string() + ": no manifests (want *.yaml, *.yml or *.json below it)");
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

Result<std::vector<Source>> ReadSources(std::span<const std::string> paths,
                                        std::istream& standard_input) {
  std::vector<Source> sources;
  bool stdin_taken = false;
  for (const std::string& path : paths) {
    if (path == "-") {
      if (std::exchange(stdin_taken, true)) {
        return Fail(Code::kInvalidArgument, "-: standard input can be read only once");
      }
      sources.push_back(Source{"<stdin>", ReadAll(standard_input, 0)});
      continue;
    }
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      TRY_ASSIGN(Source source, ReadFile(path));
      sources.push_back(std::move(source));
      continue;
    }
    TRY_ASSIGN(const std::vector<fs::path> manifests, ListManifests(path));
    for (const fs::path& manifest : manifests) {
      TRY_ASSIGN(Source source, ReadFile(manifest));
      sources.push_back(std::move(source));
    }
  }
  return sources;
}

}  // namespace strata::objects
