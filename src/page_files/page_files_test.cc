#include "page_files/page_files.h"

#include <zlib.h>

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

namespace strata::page_files {
namespace {

// What gzip made `packed` from; a test fails if it is anything else.
std::string Unpack(std::string_view packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
  std::string text(1 << 21, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST(PageFiles, TheFirstPageNamesTheOtherFilesByTheirContent) {
  const auto files = PageFiles();
  const auto index = std::ranges::find(files, "index.html", &PageFile::path);
  ASSERT_NE(index, files.end()) << "built with STRATA_PAGE=OFF";
  EXPECT_FALSE(index->immutable);
  const std::string html = Unpack(index->gzipped);
  for (const PageFile& file : files) {
    if (file.immutable) {
      EXPECT_NE(html.find('"' + std::string(file.path) + '"'), std::string::npos) << file.path;
    }
  }
  EXPECT_EQ(std::ranges::count(files, true, &PageFile::immutable),
            2);  // one script, one style sheet
}

TEST(PageFiles, IsAtMost120KilobytesInAll) {
  std::size_t bytes = 0;
  for (const PageFile& file : PageFiles()) bytes += file.gzipped.size();
  EXPECT_LE(bytes, 120'000u);
}

TEST(PageFiles, HasTheLicencesOfItsLibraries) {
  const auto files = PageFiles();
  const auto found = std::ranges::find(files, "licences.txt", &PageFile::path);
  ASSERT_NE(found, files.end());
  EXPECT_NE(Unpack(found->gzipped).find("The MIT License"), std::string::npos);
}

}  // namespace
}  // namespace strata::page_files
