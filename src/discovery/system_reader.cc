#include "discovery/system_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "discovery/http.h"
#include "discovery/read_budget.h"
#include "os/process.h"

namespace strata::discovery {
namespace {

namespace fs = std::filesystem;

class SystemReader : public Reader {
 public:
  SystemReader(Permissions permissions, ReadLimits limits)
      : permissions_(std::move(permissions)), budget_(limits) {}

  Result<std::string> ReadFile(const std::string& named) override {
    TRY_ASSIGN(const std::string path, permissions_.FilePath(named));
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (fs::is_directory(status)) return Fail(Code::kInvalidArgument, path + ": is a directory");
    // Opening it could wait without end.
    if (fs::is_fifo(status) || fs::is_socket(status)) {
      return Fail(Code::kInvalidArgument, path + ": is a pipe or a socket (want a file)");
    }
    std::ifstream in(path, std::ios::binary);
    if (!in) return Fail(Code::kNotFound, path + ": " + std::generic_category().message(errno));
    std::string text;
    std::vector<char> buffer(std::size_t{1} << 16U);
    while (in) {
      in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
      const auto count = static_cast<std::size_t>(in.gcount());
      if (!budget_.Take(count)) return budget_.TooMuch(path);
      if (budget_.time_left().count() == 0) return budget_.TooLong(path);
      text.append(buffer.data(), count);
    }
    if (in.bad()) return Fail(Code::kUnavailable, path + ": cannot be read");
    return text;
  }

  Result<std::map<std::string, std::string>> ReadFolder(const std::string& named,
                                                        std::string_view suffix) override {
    TRY_ASSIGN(const std::string path, permissions_.FilePath(named));
    std::map<std::string, std::string> texts;
    std::error_code error;
    for (fs::directory_iterator entry(path, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string file = entry->path().filename().string();
      if (!file.ends_with(suffix) || file.size() == suffix.size()) continue;
      TRY_ASSIGN(std::string text, ReadFile(entry->path().string()));
      texts.emplace(file.substr(0, file.size() - suffix.size()), std::move(text));
    }
    if (error) return Fail(Code::kNotFound, path + ": " + error.message());
    if (texts.empty()) {
      return Fail(Code::kNotFound,
                  fmt::format("{}: no files (want <machine>{} in it)", path, suffix));
    }
    return texts;
  }

  Result<CommandOutput> Run(const std::vector<std::string>& command) override {
    std::vector<std::string> words = command;
    TRY_ASSIGN(words.front(), permissions_.ProgramPath(command.front()));
    TRY_ASSIGN(os::ProcessOutput run,
               os::RunProcess({std::move(words), {}}, {budget_.time_left(), budget_.bytes_left()}));
    if (run.end == os::ProcessOutput::End::kTimedOut) return budget_.TooLong(command.front());
    if (!budget_.Take(run.out.size())) return budget_.TooMuch(command.front());
    return CommandOutput{run.exit_code, run.signal, std::move(run.out), std::move(run.err)};
  }

  Result<HttpAnswer> Send(const HttpRequest& request) override {
    if (request.server == nullptr || request.server->ca_file.empty()) {
      return SendHttp(request, budget_);
    }
    ServerConfig server = *request.server;
    TRY_ASSIGN(server.ca_file, permissions_.FilePath(server.ca_file));
    HttpRequest allowed = request;
    allowed.server = &server;
    return SendHttp(allowed, budget_);
  }

  Status Wait(Duration duration) override {
    const auto wanted = std::chrono::duration_cast<std::chrono::milliseconds>(duration);
    if (wanted >= budget_.time_left()) return budget_.TooLong("the server");
    std::this_thread::sleep_for(wanted);
    return {};
  }

 private:
  Permissions permissions_;
  ReadBudget budget_;
};

}  // namespace

std::unique_ptr<Reader> MakeSystemReader(Permissions permissions, ReadLimits limits) {
  return std::make_unique<SystemReader>(std::move(permissions), limits);
}

}  // namespace strata::discovery
