#include "net/certificate.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http_test_client.h"

namespace strata::net {
namespace {

using ::testing::HasSubstr;

Time Now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

const std::vector<std::string>& Hosts() {
  static const std::vector<std::string> hosts = {"127.0.0.1", "::1", "localhost"};
  return hosts;
}

// What a client that trusts `ca` alone gets for a request to a server that it calls `host`; the
// reason why it did not ask when it does not trust the server.
std::string GetOverTls(std::uint16_t port, const std::string& ca, const std::string& host) {
  const RawClient client(port);
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  SSL_CTX_free);
  BIO* const pem = BIO_new_mem_buf(ca.data(), static_cast<int>(ca.size()));
  X509* const trusted = PEM_read_bio_X509(pem, nullptr, nullptr, nullptr);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()), trusted);
  X509_free(trusted);
  BIO_free(pem);
  const std::unique_ptr<SSL, decltype(&SSL_free)> tls(SSL_new(context.get()), SSL_free);
  X509_VERIFY_PARAM* const verify = SSL_get0_param(tls.get());
  if (X509_VERIFY_PARAM_set1_ip_asc(verify, host.c_str()) != 1) {
    SSL_set1_host(tls.get(), host.c_str());
  }
  SSL_set_verify(tls.get(), SSL_VERIFY_PEER, nullptr);
  SSL_set_fd(tls.get(), client.descriptor());
  if (SSL_connect(tls.get()) != 1) {
    return X509_verify_cert_error_string(SSL_get_verify_result(tls.get()));
  }
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  SSL_write(tls.get(), request.data(), static_cast<int>(request.size()));
  std::string answer;
  std::string buffer(65536, '\0');
  for (int got = 0; (got = SSL_read(tls.get(), buffer.data(), 65536)) > 0;) {
    answer.append(buffer, 0, static_cast<std::size_t>(got));
  }
  return answer;
}

TEST(Certificate, IsAcceptedForItsHostsByClientsThatTrustTheCa) {
  const CertificateAuthority ca = MakeAuthority("test-ca", Now()).value();
  const CertificateAuthority other = MakeAuthority("test-ca", Now()).value();
  const std::string large(300'000, 'x');
  ServerThread server(
      [&](const std::shared_ptr<Exchange>& exchange) { exchange->Respond({.body = large}); },
      {.certificate = IssueCertificate(ca, Hosts(), Now()).value()});
  for (const std::string& host : Hosts()) {
    EXPECT_THAT(GetOverTls(server.port(), ca.certificate_pem, host), HasSubstr("\r\n\r\n" + large));
  }
  EXPECT_EQ(GetOverTls(server.port(), ca.certificate_pem, "127.0.0.2"), "IP address mismatch");
  EXPECT_EQ(GetOverTls(server.port(), ca.certificate_pem, "example.com"), "hostname mismatch");
  EXPECT_THAT(GetOverTls(server.port(), other.certificate_pem, "localhost"),
              HasSubstr("unable to get local issuer certificate"));
}

TEST(Certificate, DoesNotAnswerPlainHttp) {
  const CertificateAuthority ca = MakeAuthority("test-ca", Now()).value();
  ServerThread server([](const std::shared_ptr<Exchange>&) { FAIL(); },
                      {.certificate = IssueCertificate(ca, Hosts(), Now()).value()});
  RawClient client(server.port());
  client.Send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(client.ReadToEnd().find("HTTP/1.1 200"), std::string::npos);
}

TEST(Certificate, RejectsAnInvalidCa) {
  CertificateAuthority ca = MakeAuthority("a", Now()).value();
  ca.key_pem = MakeAuthority("b", Now()).value().key_pem;
  EXPECT_EQ(IssueCertificate(ca, Hosts(), Now()).error().code, Code::kInvalidArgument);
  EXPECT_EQ(IssueCertificate({}, Hosts(), Now()).error().code, Code::kInvalidArgument);
}

TEST(Certificate, KnowsItsExpiryAndHosts) {
  const Time now{std::chrono::seconds(1'800'000'000)};
  const CertificateAuthority ca = MakeAuthority("test-ca", now).value();
  const ServerCertificate made = IssueCertificate(ca, Hosts(), now, std::chrono::hours(48)).value();
  const CertificateFacts facts = ReadCertificate(made.certificate_pem).value();
  EXPECT_EQ(facts.not_before, now - std::chrono::hours(1));
  EXPECT_EQ(facts.not_after, now + std::chrono::hours(48));
  EXPECT_EQ(facts.hosts, Hosts());
  EXPECT_EQ(ReadCertificate(ca.certificate_pem).value().not_after, now + kTenYears);
  EXPECT_EQ(ReadCertificate("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
                .error()
                .code,
            Code::kInvalidArgument);
}

TEST(Certificate, KnowsItsAuthority) {
  const CertificateAuthority ca = MakeAuthority("ca", Now()).value();
  const CertificateAuthority other = MakeAuthority("ca", Now()).value();
  const std::string made = IssueCertificate(ca, Hosts(), Now()).value().certificate_pem;
  EXPECT_TRUE(IsSignedBy(made, ca.certificate_pem + other.certificate_pem));
  EXPECT_FALSE(IsSignedBy(made, other.certificate_pem));
  EXPECT_FALSE(IsSignedBy(made, ""));
  EXPECT_FALSE(IsSignedBy("", ca.certificate_pem));
}

TEST(HttpServer, ServesANewCertificateAtOnce) {
  const CertificateAuthority first = MakeAuthority("first", Now()).value();
  const CertificateAuthority second = MakeAuthority("second", Now()).value();
  const ServerCertificate renewed = IssueCertificate(second, Hosts(), Now()).value();
  ServerThread server(
      [](const std::shared_ptr<Exchange>& exchange) { exchange->Respond({.body = "hello"}); },
      {.certificate = IssueCertificate(first, Hosts(), Now()).value()});
  server.OnLoop([&] {
    const std::string key_of_another = IssueCertificate(first, Hosts(), Now()).value().key_pem;
    EXPECT_EQ(
        server.server().SetCertificate({renewed.certificate_pem, key_of_another}).error().code,
        Code::kInvalidArgument);
  });
  EXPECT_THAT(GetOverTls(server.port(), first.certificate_pem, "localhost"), HasSubstr("hello"));
  server.OnLoop([&] { EXPECT_TRUE(server.server().SetCertificate(renewed)); });
  EXPECT_THAT(GetOverTls(server.port(), second.certificate_pem, "localhost"), HasSubstr("hello"));
}

TEST(HttpServer, RejectsAnInvalidCertificate) {
  EventLoop loop;
  const auto server =
      HttpServer::Listen(loop, {.certificate = ServerCertificate{"no", "no"}}, nullptr);
  EXPECT_EQ(server.error().code, Code::kInvalidArgument);
}

}  // namespace
}  // namespace strata::net
