#include "apps/webhooks_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata {
namespace {

using testing::ElementsAre;

TEST(WebhooksFlags, AServiceIsReachedOnAllAddresses) {
  WebhooksFlags flags;
  flags.service = "volcano-system/strata-admission-service";
  ASSERT_TRUE(CompleteFlags(flags));
  EXPECT_EQ(flags.options.address.service_namespace, "volcano-system");
  EXPECT_EQ(flags.options.address.service_name, "strata-admission-service");
  EXPECT_EQ(flags.options.address.own_namespace, "volcano-system");
  EXPECT_EQ(WhereToListen(flags).host, "0.0.0.0");
  EXPECT_EQ(WhereToListen(flags).port, 8443);
  EXPECT_THAT(CertificateHosts(flags.options.address, WhereToListen(flags)),
              ElementsAre("strata-admission-service.volcano-system.svc",
                          "strata-admission-service.volcano-system",
                          "strata-admission-service.volcano-system.svc.cluster.local"));
}

TEST(WebhooksFlags, WithoutAServiceItListensOnLoopback) {
  WebhooksFlags flags;
  ASSERT_TRUE(CompleteFlags(flags));
  EXPECT_EQ(WhereToListen(flags).host, "127.0.0.1");
  EXPECT_EQ(WhereToListen(flags).port, 0);
  flags.port = 9443;
  EXPECT_EQ(WhereToListen(flags).port, 9443);
  flags.listen = "[::1]:1";
  EXPECT_EQ(WhereToListen(flags).host, "::1");
}

TEST(WebhooksFlags, TheHostOfTheUrlIsTheFirstNameOfTheCertificate) {
  webhooks::Address address;
  for (const char* url : {"https://gate:8443/x", "https://gate/x", "https://gate"}) {
    address.url = url;
    EXPECT_EQ(CertificateHosts(address, {"127.0.0.1", 1}).front(), "gate") << url;
  }
  address.url = "https://[fe80::1]:8443";
  EXPECT_EQ(CertificateHosts(address, {"127.0.0.1", 1}).front(), "fe80::1");
}

TEST(WebhooksFlags, ContradictionsNameTheFlag) {
  WebhooksFlags half;
  half.options.address.service_namespace = "x";
  EXPECT_EQ(CompleteFlags(half).error().message,
            "--webhook-service-name: requires --webhook-namespace");
  WebhooksFlags both;
  both.service = "ns/name";
  both.options.address.url = "https://gate";
  EXPECT_EQ(CompleteFlags(both).error().message,
            "--webhook-url: cannot be combined with a Service");
  WebhooksFlags key;
  key.files.key = "tls.key";
  EXPECT_EQ(CompleteFlags(key).error().message,
            "--tls-cert-file: requires --tls-private-key-file and --ca-cert-file");
}

TEST(SecretOf, IsNamedAfterTheService) {
  EXPECT_EQ(SecretOf("x-admission-service"), "x-admission-secret");
  EXPECT_EQ(SecretOf("gate"), "gate-secret");
}

TEST(CheckObjectName, WantsNamespaceAndName) {
  EXPECT_EQ(CheckObjectName("ns/name"), "");
  for (const char* text : {"", "name", "/name", "ns/", "a/b/c"})
    EXPECT_NE(CheckObjectName(text), "");
}

TEST(CheckUrl, WantsHttps) {
  EXPECT_EQ(CheckUrl("https://gate:8443"), "");
  for (const char* text : {"", "gate", "http://gate", "https://"}) EXPECT_NE(CheckUrl(text), "");
}

}  // namespace
}  // namespace strata
