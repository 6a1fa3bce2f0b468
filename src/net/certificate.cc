#include "net/certificate.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string_view>

namespace strata::net {
namespace {

template <auto Free>
struct FreeBy {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, FreeBy<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, FreeBy<X509_EXTENSION_free>>;
using Bio = std::unique_ptr<BIO, FreeBy<BIO_free_all>>;
using Number = std::unique_ptr<BIGNUM, FreeBy<BN_free>>;

constexpr long kX509v3 = 2;
constexpr std::time_t kHour = 3600;

tl::unexpected<Error> OpenSslError(const std::string& what) {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return Fail(Code::kInternal, what + ": " + text.data());
}

std::string Content(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return {data, static_cast<std::size_t>(size)};
}

Bio Reading(std::string_view pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

Result<std::string> PemOf(const Key& key) {
  const Bio memory(BIO_new(BIO_s_mem()));
  if (memory == nullptr ||
      PEM_write_bio_PrivateKey(memory.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return OpenSslError("write a private key");
  }
  return Content(memory.get());
}

Result<std::string> PemOf(const Certificate& certificate) {
  const Bio memory(BIO_new(BIO_s_mem()));
  if (memory == nullptr || PEM_write_bio_X509(memory.get(), certificate.get()) != 1) {
    return OpenSslError("write a certificate");
  }
  return Content(memory.get());
}

Result<Key> MakeKey() {
  Key key(EVP_EC_gen("P-256"));
  if (key == nullptr) return OpenSslError("make a key");
  return key;
}

bool SetSerial(X509* certificate) {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
  bytes[0] = static_cast<unsigned char>((bytes[0] & 0x7f) | 0x40);  // positive, full length
  const Number number(BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr));
  return number != nullptr &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool SetName(X509* certificate, const std::string& name) {
  // A common name has at most 64 characters; clients check the alternative names.
  const std::string cut = name.substr(0, 64);
  return X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate),
                                    "CN",
                                    MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(cut.data()),
                                    static_cast<int>(cut.size()),
                                    -1,
                                    0) == 1;
}

struct Validity {
  Time now;
  Duration lifetime;
};

bool SetTimes(X509* certificate, const Validity& validity) {
  const auto seconds = [](Time time) -> std::time_t {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  };
  const std::time_t end = seconds(validity.now + validity.lifetime);
  return ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(validity.now) - kHour) !=
             nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), end) != nullptr;
}

Certificate ParseCertificate(std::string_view pem) {
  Certificate certificate(PEM_read_bio_X509(Reading(pem).get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return certificate;
}

Result<Time> ToTime(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) {
    return Fail(Code::kInvalidArgument, "a certificate with an invalid time");
  }
  return Time(std::chrono::seconds(timegm(&parts)));
}

// "127.0.0.1", "::1", "" when it is not an address.
std::string AddressText(const ASN1_OCTET_STRING* bytes) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = ASN1_STRING_length(bytes) == sizeof(in_addr) ? AF_INET : AF_INET6;
  const std::size_t size = family == AF_INET ? sizeof(in_addr) : sizeof(in6_addr);
  if (static_cast<std::size_t>(ASN1_STRING_length(bytes)) != size) return "";
  const auto* shown = inet_ntop(family, ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return shown == nullptr ? "" : text.data();
}

std::vector<std::string> HostsOf(const X509* certificate) {
  using Names = std::unique_ptr<GENERAL_NAMES, FreeBy<GENERAL_NAMES_free>>;
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::vector<std::string> hosts;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) {
      const auto* text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
      hosts.emplace_back(text, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    } else if (name->type == GEN_IPADD) {
      hosts.push_back(AddressText(name->d.iPAddress));
    }
  }
  return hosts;
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

// "IP:127.0.0.1,DNS:localhost"
std::string AlternativeNames(std::span<const std::string> hosts) {
  std::string names;
  for (const std::string& host : hosts) {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    const bool ip = inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
                    inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
    names += std::string(names.empty() ? "" : ",") + (ip ? "IP:" : "DNS:") + host;
  }
  return names;
}

// Everything but the extensions and the signature.
Result<Certificate> Blank(const Key& key, const std::string& name, const Validity& validity) {
  Certificate certificate(X509_new());
  X509* const raw = certificate.get();
  if (raw == nullptr || X509_set_version(raw, kX509v3) != 1 || !SetSerial(raw) ||
      !SetName(raw, name) || !SetTimes(raw, validity) || X509_set_pubkey(raw, key.get()) != 1) {
    return OpenSslError("make a certificate");
  }
  return certificate;
}

}  // namespace

Result<CertificateAuthority> MakeAuthority(const std::string& name, Time now, Duration lifetime) {
  TRY_ASSIGN(const Key key, MakeKey());
  TRY_ASSIGN(const Certificate certificate, Blank(key, name, {now, lifetime}));
  X509* const raw = certificate.get();
  const bool good = X509_set_issuer_name(raw, X509_get_subject_name(raw)) == 1 &&
                    AddExtension(raw, raw, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
                    AddExtension(raw, raw, NID_key_usage, "critical,keyCertSign,cRLSign") &&
                    AddExtension(raw, raw, NID_subject_key_identifier, "hash") &&
                    X509_sign(raw, key.get(), EVP_sha256()) != 0;
  if (!good) return OpenSslError("make the certificate of a CA");
  CertificateAuthority authority;
  TRY_ASSIGN(authority.certificate_pem, PemOf(certificate));
  TRY_ASSIGN(authority.key_pem, PemOf(key));
  return authority;
}

Result<ServerCertificate> IssueCertificate(const CertificateAuthority& authority,
                                           std::span<const std::string> hosts,
                                           Time now,
                                           Duration lifetime) {
  if (hosts.empty()) return Fail(Code::kInvalidArgument, "a certificate for no host");
  const Certificate issuer = ParseCertificate(authority.certificate_pem);
  const Key issuer_key(
      PEM_read_bio_PrivateKey(Reading(authority.key_pem).get(), nullptr, nullptr, nullptr));
  if (issuer == nullptr || issuer_key == nullptr ||
      X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    ERR_clear_error();
    return Fail(Code::kInvalidArgument, "the CA's certificate and key do not match or are invalid");
  }
  TRY_ASSIGN(const Key key, MakeKey());
  TRY_ASSIGN(const Certificate certificate, Blank(key, hosts.front(), {now, lifetime}));
  X509* const raw = certificate.get();
  X509* const by = issuer.get();
  const bool good = X509_set_issuer_name(raw, X509_get_subject_name(by)) == 1 &&
                    AddExtension(raw, by, NID_basic_constraints, "critical,CA:FALSE") &&
                    AddExtension(raw, by, NID_key_usage, "critical,digitalSignature") &&
                    AddExtension(raw, by, NID_ext_key_usage, "serverAuth") &&
                    AddExtension(raw, by, NID_authority_key_identifier, "keyid") &&
                    AddExtension(raw, by, NID_subject_alt_name, AlternativeNames(hosts)) &&
                    X509_sign(raw, issuer_key.get(), EVP_sha256()) != 0;
  if (!good) return OpenSslError("make a server's certificate");
  ServerCertificate made;
  TRY_ASSIGN(made.certificate_pem, PemOf(certificate));
  TRY_ASSIGN(made.key_pem, PemOf(key));
  return made;
}

Result<CertificateFacts> ReadCertificate(const std::string& pem) {
  const Certificate certificate = ParseCertificate(pem);
  if (certificate == nullptr) return Fail(Code::kInvalidArgument, "no certificate in PEM form");
  CertificateFacts facts;
  TRY_ASSIGN(facts.not_before, ToTime(X509_get0_notBefore(certificate.get())));
  TRY_ASSIGN(facts.not_after, ToTime(X509_get0_notAfter(certificate.get())));
  facts.hosts = HostsOf(certificate.get());
  return facts;
}

bool IsSignedBy(const std::string& certificate_pem, const std::string& authority_pem) {
  const Certificate certificate = ParseCertificate(certificate_pem);
  const Certificate authority = ParseCertificate(authority_pem);
  if (certificate == nullptr || authority == nullptr) return false;
  const bool is_signed = X509_verify(certificate.get(), X509_get0_pubkey(authority.get())) == 1;
  ERR_clear_error();
  return is_signed;
}

bool IsKeyOf(const std::string& key_pem, const std::string& certificate_pem) {
  const Certificate certificate = ParseCertificate(certificate_pem);
  char no_passphrase[] = "";  // rather than ask for one at the terminal
  const Key key(PEM_read_bio_PrivateKey(Reading(key_pem).get(), nullptr, nullptr, no_passphrase));
  const bool is_key = certificate != nullptr && key != nullptr &&
                      X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return is_key;
}

}  // namespace strata::net
