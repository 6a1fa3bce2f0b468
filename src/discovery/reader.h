#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "discovery/config.h"

namespace strata::discovery {

// What a Secret holds. Never part of a message.
struct Credentials {
  std::string username;
  std::string password;
  std::string token;

  [[nodiscard]] bool empty() const { return username.empty() && token.empty(); }
};

struct HttpRequest {
  std::string url;
  const ServerConfig* server = nullptr;
  const Credentials* credentials = nullptr;
  std::string token_scheme = "Bearer";  // goes before the token in the Authorization header
  std::string body;                     // JSON to POST; "" for a GET
};

struct HttpAnswer {
  long status = 0;
  std::string body;
};

struct CommandOutput {
  int exit_code = 0;
  int signal = 0;  // what ended it; 0 when it ended by itself
  std::string out;
  std::string err;  // cut off after 64 KiB
};

// The only access of sources to the outside. One reader serves one pass of one source, and bounds
// it as a whole: in time, and in the bytes it takes in. Errors are one clear line each, without
// anything secret.
class Reader {
 public:
  virtual ~Reader() = default;

  [[nodiscard]] virtual Result<std::string> ReadFile(const std::string& path) = 0;
  // The files of a folder whose names end in `suffix`, by the name without it.
  [[nodiscard]] virtual Result<std::map<std::string, std::string>> ReadFolder(
      const std::string& path, std::string_view suffix) = 0;
  // Runs a program without a shell, with standard input empty. A program that ends before the
  // time is over is not an error, however it ends.
  [[nodiscard]] virtual Result<CommandOutput> Run(const std::vector<std::string>& command) = 0;
  // An answer of the server is not an error, whatever its status.
  [[nodiscard]] virtual Result<HttpAnswer> Send(const HttpRequest& request) = 0;
  // Waits, or fails when the time of the pass is over before.
  [[nodiscard]] virtual Status Wait(Duration duration) = 0;
};

}  // namespace strata::discovery
