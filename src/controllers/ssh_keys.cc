#include "controllers/ssh_keys.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/base64.h"
#include "base/check.h"

namespace strata::controllers {
namespace {

constexpr unsigned int kBits = 2048;

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Number = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

std::string PrivatePem(EVP_PKEY* key) {
  const Bio out(BIO_new(BIO_s_mem()), &BIO_free);
  CHECK(PEM_write_bio_PrivateKey_traditional(
            out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

// RFC 4253: a length of four bytes, then the bytes.
void AppendField(const std::string& bytes, std::string& out) {
  for (const int shift : {24, 16, 8, 0}) {
    out += static_cast<char>((bytes.size() >> static_cast<unsigned>(shift)) & 0xFFU);
  }
  out += bytes;
}

// A positive number: no byte too many, and the first bit is 0.
std::string NumberBytes(EVP_PKEY* key, const char* name) {
  BIGNUM* raw = nullptr;
  CHECK(EVP_PKEY_get_bn_param(key, name, &raw) == 1);
  const Number number(raw, &BN_free);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(BN_num_bytes(number.get())));
  BN_bn2bin(number.get(), bytes.data());
  std::string text(bytes.begin(), bytes.end());
  if (!bytes.empty() && (bytes.front() & 0x80U) != 0) text.insert(text.begin(), '\0');
  return text;
}

}  // namespace

SshKeys NewSshKeys() {
  const Key key(EVP_RSA_gen(kBits), &EVP_PKEY_free);
  CHECK(key != nullptr);
  std::string blob;
  AppendField("ssh-rsa", blob);
  AppendField(NumberBytes(key.get(), OSSL_PKEY_PARAM_RSA_E), blob);
  AppendField(NumberBytes(key.get(), OSSL_PKEY_PARAM_RSA_N), blob);
  return {.private_pem = PrivatePem(key.get()),
          .public_line = "ssh-rsa " + EncodeBase64(blob) + "\n"};
}

}  // namespace strata::controllers
