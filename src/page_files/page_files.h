// The files of the page of `strata page`, as they are built from web/ and carried by the program.
#pragma once

#include <span>
#include <string_view>

namespace strata::page_files {

struct PageFile {
  std::string_view path;          // "index.html", relative to the root of the page
  std::string_view content_type;  // with its charset
  std::string_view gzipped;       // the content, compressed by gzip
  bool immutable = false;         // the path changes with the content, so it may be cached for good
};

// All files in the order of their paths, for as long as the program runs; none when it was built
// with STRATA_PAGE=OFF. Thread-safe.
[[nodiscard]] std::span<const PageFile> PageFiles();

}  // namespace strata::page_files
