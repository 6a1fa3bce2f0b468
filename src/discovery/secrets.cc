#include "discovery/secrets.h"

#include <openssl/evp.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace strata::discovery {
namespace {

// Base64 in one line; white space is taken away, as Kubernetes does.
bool Decode(std::string text, std::string& out) {
  text.erase(
      std::remove_if(
          text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == ' '; }),
      text.end());
  out.clear();
  if (text.empty()) return true;
  if (text.size() % 4 != 0) return false;
  std::vector<unsigned char> bytes(text.size() / 4 * 3);
  const int length = EVP_DecodeBlock(bytes.data(),
                                     reinterpret_cast<const unsigned char*>(text.data()),
                                     static_cast<int>(text.size()));
  if (length < 0) return false;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  out.assign(bytes.begin(), bytes.begin() + length - static_cast<std::ptrdiff_t>(padding));
  return true;
}

Status ReadKey(const objects::Secret& secret, std::string_view key, std::string& out) {
  if (const std::string* plain = objects::Find(secret.string_data, key)) {
    out = *plain;
  } else if (const std::string* coded = objects::Find(secret.data, key)) {
    if (!Decode(*coded, out)) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: data.{}: want base64", objects::ObjectName(secret.meta), key));
    }
  }
  // A header or a user name with a line break would be another request.
  if (out.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: {}: holds a line break (was it made with echo, without -n?)",
                            objects::ObjectName(secret.meta),
                            key));
  }
  return {};
}

}  // namespace

Result<Credentials> CredentialsOf(const SourceConfig& entry,
                                  std::span<const objects::Secret> secrets,
                                  std::string_view advice) {
  Credentials credentials;
  if (!entry.secret) return credentials;
  const auto found = std::find_if(secrets.begin(), secrets.end(), [&](const objects::Secret& s) {
    return s.meta.name == entry.secret->name && s.meta.ns == entry.secret->ns;
  });
  if (found == secrets.end()) {
    return Fail(
        Code::kNotFound,
        fmt::format(
            "Secret {}/{} is not there ({})", entry.secret->ns, entry.secret->name, advice));
  }
  TRY(ReadKey(*found, "username", credentials.username));
  TRY(ReadKey(*found, "password", credentials.password));
  TRY(ReadKey(*found, "token", credentials.token));
  return credentials;
}

}  // namespace strata::discovery
