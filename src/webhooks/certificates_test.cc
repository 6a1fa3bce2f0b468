#include "webhooks/certificates.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "net/certificate.h"
#include "webhooks/shared_certificates.h"

namespace strata::webhooks {
namespace {

using nlohmann::json;
using std::chrono::hours;

constexpr Time kBirth{std::chrono::seconds(1'800'000'000)};
constexpr Duration kDay = hours(24);

const std::vector<std::string>& ServiceHosts() {
  static const std::vector<std::string> hosts = {"admission.volcano-system.svc"};
  return hosts;
}

Certificates Fresh() {
  return Renew(std::nullopt, ServiceHosts(), kBirth).value();
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Certificates, HoldForTheirHostsUntilTheLastThirdOfTheirLife) {
  const Certificates made = Fresh();
  EXPECT_TRUE(AreGood(made, ServiceHosts(), kBirth));
  EXPECT_TRUE(AreGood(made, ServiceHosts(), kBirth + kServerLifetime - kServerReserve - kDay));
  EXPECT_FALSE(AreGood(made, ServiceHosts(), kBirth + kServerLifetime - kServerReserve + kDay));
  EXPECT_FALSE(AreGood(made, ServiceHosts(), kBirth - 2 * kDay));
  const std::vector<std::string> others = {"other.volcano-system.svc"};
  EXPECT_FALSE(AreGood(made, others, kBirth));
}

TEST(Certificates, NeedOnlyTheNameThatApiServersAskFor) {
  const std::vector<std::string> more = {ServiceHosts().front(), "admission.volcano-system"};
  EXPECT_TRUE(AreGood(Fresh(), more, kBirth));
}

TEST(Certificates, MustHaveTheirKey) {
  Certificates mixed = Fresh();
  for (const std::string& key : {Fresh().server.key_pem, std::string("AAAA"), std::string()}) {
    mixed.server.key_pem = key;
    EXPECT_FALSE(AreGood(mixed, ServiceHosts(), kBirth)) << key;
  }
}

TEST(TrustedToo, AddsWhatIsMissingOnceAndThenStaysAsItIs) {
  const std::string a = Fresh().authority_pem;
  const std::string b = Fresh().authority_pem;
  EXPECT_EQ(TrustedToo("", a, kBirth), a);
  EXPECT_EQ(TrustedToo("no certificate", a, kBirth), a);
  const std::string both = TrustedToo(a, b, kBirth);
  EXPECT_EQ(both, b + a);
  EXPECT_EQ(TrustedToo(both, a, kBirth), both) << "replicas do not put out each other";
  EXPECT_EQ(TrustedToo(both, b, kBirth), both);
}

TEST(TrustedToo, TakesFilesWithoutAFinalNewline) {
  const std::string a = Fresh().authority_pem;
  const std::string b = Fresh().authority_pem;
  const std::string cut = b.substr(0, b.size() - 1);
  EXPECT_EQ(TrustedToo(a, cut, kBirth), b + a);
  EXPECT_EQ(TrustedToo(b + a, cut, kBirth), b + a);
  EXPECT_EQ(TrustedToo(a, "no certificate", kBirth), "no certificate");
}

TEST(TrustedToo, DropsWhatHasExpiredAndTheOldestOfTooMany) {
  const Time later = kBirth + net::kTenYears;
  const std::string young = Renew(std::nullopt, ServiceHosts(), later).value().authority_pem;
  EXPECT_EQ(TrustedToo(Fresh().authority_pem, young, later), young);
  std::string trusted;
  for (int i = 0; i < 6; ++i) trusted = TrustedToo(trusted, Fresh().authority_pem, kBirth);
  EXPECT_EQ(CountOf(trusted, "BEGIN CERTIFICATE"), 4U);
}

TEST(Certificates, MustBeOfTheirAuthority) {
  Certificates mixed = Fresh();
  mixed.authority_pem = Fresh().authority_pem;
  EXPECT_FALSE(AreGood(mixed, ServiceHosts(), kBirth));
  EXPECT_FALSE(AreGood({}, ServiceHosts(), kBirth));
}

TEST(Certificates, AreRenewedByTheSameAuthorityWhileItLives) {
  const Certificates made = Fresh();
  const Time later = kBirth + kServerLifetime;
  const Certificates renewed = Renew(made, ServiceHosts(), later).value();
  EXPECT_EQ(renewed.authority_pem, made.authority_pem);
  EXPECT_NE(renewed.server.certificate_pem, made.server.certificate_pem);
  EXPECT_TRUE(AreGood(renewed, ServiceHosts(), later));
}

TEST(Certificates, ANewCaIsTrustedBesideThePreviousOneUntilThatExpires) {
  const Certificates made = Fresh();
  const Time old_age = kBirth + net::kTenYears - kAuthorityReserve + kDay;
  EXPECT_FALSE(AreGood(made, ServiceHosts(), old_age));
  const Certificates renewed = Renew(made, ServiceHosts(), old_age).value();
  EXPECT_TRUE(AreGood(renewed, ServiceHosts(), old_age));
  EXPECT_TRUE(renewed.authority_pem.ends_with(made.authority_pem));
  EXPECT_EQ(CountOf(renewed.authority_pem, "BEGIN CERTIFICATE"), 2U);

  const Time much_later = old_age + net::kTenYears;
  const Certificates again = Renew(renewed, ServiceHosts(), much_later).value();
  EXPECT_EQ(CountOf(again.authority_pem, "BEGIN CERTIFICATE"), 1U);
}

TEST(Certificates, OfAnAuthorityUnderAnOldLabelGetANewOne) {
  Certificates given = Fresh();
  given.authority_key_pem = "";
  for (const std::string mark : {"BEGIN ", "END "}) {
    given.authority_pem.replace(given.authority_pem.find(mark), mark.size(), mark + "X509 ");
  }
  ASSERT_TRUE(net::ReadCertificate(given.authority_pem));
  const Certificates renewed = Renew(given, ServiceHosts(), kBirth).value();
  EXPECT_EQ(CountOf(renewed.authority_pem, "BEGIN CERTIFICATE"), 1U);
}

TEST(Certificates, OfAnAuthorityWhoseKeyIsNotHereGetANewOne) {
  Certificates given = Fresh();
  given.authority_key_pem = "";
  EXPECT_TRUE(AreGood(given, ServiceHosts(), kBirth));
  const Certificates renewed = Renew(given, ServiceHosts(), kBirth + kServerLifetime).value();
  EXPECT_NE(renewed.authority_key_pem, "");
  EXPECT_TRUE(renewed.authority_pem.ends_with(given.authority_pem));
  given.authority_key_pem = Fresh().authority_key_pem;  // a key, but of another
  EXPECT_TRUE(Renew(given, ServiceHosts(), kBirth));
}

// Secrets of an API server, without the rest of it.
class FakeSecrets {
 public:
  kube::Reply operator()(const kube::Call& call) {
    calls.push_back(call.method + " " + call.path);
    const auto refuse = [](int status, std::string reason) -> kube::Reply {
      kube::Failure failure;
      failure.http_status = status;
      failure.reason = std::move(reason);
      failure.error = {kube::CodeOf(status), "no"};
      return tl::unexpected(failure);
    };
    if (call.method == "GET") return secret.empty() ? refuse(404, "NotFound") : secret;
    if (refuse_writes != 0) return refuse(refuse_writes, "");
    if (call.method == "POST" && !secret.empty()) return refuse(409, "AlreadyExists");
    secret = call.body;
    return secret;
  }

  std::string secret;
  int refuse_writes = 0;
  std::vector<std::string> calls;
};

const SecretName kName{"volcano-system", "volcano-admission-secret"};

TEST(ShareCertificates, IsMadeOnceAndThenRead) {
  FakeSecrets server;
  const Ask ask = [&](const kube::Call& call) { return server(call); };
  const Certificates made = ShareCertificates(ask, kName, ServiceHosts(), {}, kBirth).value();
  const Certificates read = ShareCertificates(ask, kName, ServiceHosts(), {}, kBirth).value();
  EXPECT_EQ(made, read);
  const std::string at = "/api/v1/namespaces/volcano-system/secrets";
  EXPECT_EQ(server.calls,
            (std::vector<std::string>{"GET " + at + "/volcano-admission-secret",
                                      "POST " + at,
                                      "GET " + at + "/volcano-admission-secret"}));
}

TEST(ShareCertificates, IsRenewedInItsPlace) {
  FakeSecrets server;
  const Ask ask = [&](const kube::Call& call) { return server(call); };
  ASSERT_TRUE(ShareCertificates(ask, kName, ServiceHosts(), {}, kBirth));
  json kept = json::parse(server.secret);
  kept["metadata"]["resourceVersion"] = "7";
  kept["data"]["other"] = "YQ==";
  server.secret = kept.dump();
  const Time later = kBirth + kServerLifetime;
  const Certificates renewed = ShareCertificates(ask, kName, ServiceHosts(), {}, later).value();
  EXPECT_TRUE(AreGood(renewed, ServiceHosts(), later));
  EXPECT_TRUE(server.calls.back().starts_with("PUT "));
  const json written = json::parse(server.secret);
  EXPECT_EQ(written["metadata"]["resourceVersion"], "7");
  EXPECT_EQ(written["data"]["other"], "YQ==");
  EXPECT_EQ(FromSecret(written), renewed);
}

TEST(ShareCertificates, ASecretThatIsGoneIsMadeByTheAuthorityThatIsTrusted) {
  FakeSecrets server;
  const Ask ask = [&](const kube::Call& call) { return server(call); };
  const Certificates shown = ShareCertificates(ask, kName, ServiceHosts(), {}, kBirth).value();
  server.secret = "";
  const Certificates next = ShareCertificates(ask, kName, ServiceHosts(), shown, kBirth).value();
  EXPECT_EQ(next.authority_pem, shown.authority_pem);
  EXPECT_EQ(FromSecret(json::parse(server.secret)), next);
}

TEST(ShareCertificates, ReportsThatAnotherReplicaWroteTheSecretFirst) {
  FakeSecrets server;
  server.refuse_writes = 409;
  const Ask ask = [&](const kube::Call& call) { return server(call); };
  const auto shared = ShareCertificates(ask, kName, ServiceHosts(), {}, kBirth);
  EXPECT_EQ(shared.error().code, Code::kConflict);
  EXPECT_EQ(shared.error().message, "secret volcano-system/volcano-admission-secret: no");
}

TEST(FromSecret, IsEmptyWhenAKeyIsMissing) {
  const json whole = ToSecret(Fresh(), json::object());
  EXPECT_TRUE(FromSecret(whole));
  for (const char* key : {"ca.crt", "tls.crt", "tls.key"}) {
    json broken = whole;
    broken["data"][key] = "!";
    EXPECT_FALSE(FromSecret(broken)) << key;
  }
  EXPECT_FALSE(FromSecret(json()));
  EXPECT_FALSE(FromSecret(json::parse(R"({"data": [1]})")));
}

}  // namespace
}  // namespace strata::webhooks
