#include "base/base64.h"

#include <gtest/gtest.h>

namespace strata {
namespace {

TEST(Base64, DecodesWhatItEncodedOfEveryLength) {
  std::string bytes;
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes) << i;
    bytes += static_cast<char>(i * 37);
  }
  EXPECT_EQ(EncodeBase64(""), "");
  EXPECT_EQ(EncodeBase64("\xff\xfe\xfd\xfc"), "//79/A==");
  EXPECT_EQ(EncodeBase64("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
  EXPECT_EQ(DecodeBase64("YW55\n IGNhcm5h\r\nbA=="), "any carnal");
}

TEST(Base64, RejectsInvalidText) {
  for (const char* bad :
       {"a", "ab", "abc", "ab=c", "=", "====", "a===", "ab==cd==", "ab-_", "abc=="}) {
    EXPECT_FALSE(DecodeBase64(bad)) << bad;
  }
}

}  // namespace
}  // namespace strata
