#include "page_files/page_files.h"

namespace strata::page_files {

std::span<const PageFile> PageFiles() {
  return {};
}

}  // namespace strata::page_files
