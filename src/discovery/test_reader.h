#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "discovery/reader.h"

namespace strata::discovery {

// Answers from memory: files, addresses and programs by name.
class FakeReader : public Reader {
 public:
  explicit FakeReader(std::map<std::string, std::string> texts) : texts_(std::move(texts)) {}

  Result<std::string> ReadFile(const std::string& path) override { return Text(path); }
  Result<std::map<std::string, std::string>> ReadFolder(const std::string& path,
                                                        std::string_view suffix) override {
    std::map<std::string, std::string> files;
    for (const auto& [name, text] : texts_) {
      if (!name.starts_with(path + "/") || !name.ends_with(suffix)) continue;
      const std::size_t begin = path.size() + 1;
      files[name.substr(begin, name.size() - begin - suffix.size())] = text;
    }
    if (files.empty()) return Fail(Code::kNotFound, path + ": not there");
    return files;
  }
  Result<CommandOutput> Run(const std::vector<std::string>& command) override {
    TRY_ASSIGN(const std::string out, Text(command.front()));
    return CommandOutput{.exit_code = 0, .out = out, .err = ""};
  }
  Result<HttpAnswer> Send(const HttpRequest& request) override {
    TRY_ASSIGN(const std::string body, Text(request.url));
    return HttpAnswer{.status = 200, .body = body};
  }
  Status Wait(Duration /*duration*/) override { return {}; }

 private:
  [[nodiscard]] Result<std::string> Text(const std::string& name) const {
    const auto found = texts_.find(name);
    if (found == texts_.end()) return Fail(Code::kNotFound, name + ": not there");
    return found->second;
  }

  std::map<std::string, std::string> texts_;
};

}  // namespace strata::discovery
