#include "component/listen_address.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

TEST(ListenAddress, IsAnIpAddressAndAPort) {
  const auto v4 = ParseListenAddress("127.0.0.1:8443");
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4->host, "127.0.0.1");
  EXPECT_EQ(v4->port, 8443);
  const auto v6 = ParseListenAddress("[::1]:0");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->port, 0);
}

TEST(ListenAddress, RejectsNamesAndBadPorts) {
  for (const std::string text : {"",
                                 "8443",
                                 ":8443",
                                 "localhost:8443",
                                 "127.0.0.1",
                                 "127.0.0.1:",
                                 "127.0.0.1:65536",
                                 "127.0.0.1:-1",
                                 "::1:8443",
                                 "[127.0.0.1]:8443",
                                 "[]:1"}) {
    const auto address = ParseListenAddress(text);
    ASSERT_FALSE(address) << text;
    EXPECT_THAT(address.error().message,
                HasSubstr("want ADDRESS:PORT, such as 127.0.0.1:8443 or [::1]:0"));
  }
}

TEST(ListenAddress, KnowsLoopback) {
  EXPECT_TRUE((ListenAddress{"127.3.2.1", 1}.IsLoopback()));
  EXPECT_TRUE((ListenAddress{"::1", 1}.IsLoopback()));
  EXPECT_FALSE((ListenAddress{"0.0.0.0", 1}.IsLoopback()));
  EXPECT_FALSE((ListenAddress{"::", 1}.IsLoopback()));
  EXPECT_FALSE((ListenAddress{"10.0.0.1", 1}.IsLoopback()));
}

TEST(ListenAddress, UrlOfAServerOnAllAddressesIsLoopback) {
  EXPECT_EQ((ListenAddress{"10.0.0.1", 80}.UrlHost()), "10.0.0.1:80");
  EXPECT_EQ((ListenAddress{"0.0.0.0", 80}.UrlHost()), "127.0.0.1:80");
  EXPECT_EQ((ListenAddress{"::", 80}.UrlHost()), "[::1]:80");
  EXPECT_EQ((ListenAddress{"fe80::1", 80}.UrlHost()), "[fe80::1]:80");
}

TEST(ListenAddress, CertificateNamesLoopbackAndTheHostOnce) {
  EXPECT_THAT((ListenAddress{"127.0.0.1", 1}.CertificateHosts()),
              ElementsAre("127.0.0.1", "::1", "localhost"));
  EXPECT_THAT((ListenAddress{"10.0.0.1", 1}.CertificateHosts()),
              ElementsAre("127.0.0.1", "::1", "localhost", "10.0.0.1"));
  EXPECT_THAT((ListenAddress{"0.0.0.0", 1}.CertificateHosts()),
              IsSupersetOf({"127.0.0.1", "::1", "localhost"}));
}

}  // namespace
}  // namespace strata
