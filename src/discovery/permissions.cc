#include "discovery/permissions.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata::discovery {
namespace {

// Absolute, and the same path whatever links are on the way.
bool IsPlainPath(const std::string& path) {
  if (!path.starts_with('/')) return false;
  const std::filesystem::path parsed(path);
  return std::none_of(
      parsed.begin(), parsed.end(), [](const auto& part) { return part == ".." || part == "."; });
}

bool IsBelow(const std::string& path, const std::string& folder) {
  return path.starts_with(folder) || path + "/" == folder;
}

std::string Listed(const std::vector<std::string>& paths) {
  return paths.empty() ? "none" : fmt::format("{}", fmt::join(paths, ", "));
}

// What the `config` of an entry names of this machine.
struct LocalUse {
  std::vector<std::pair<std::string, std::string>> files;  // field, path
  std::string program;                                     // "" for none
};

LocalUse UseOf(const LabelConfig& /*config*/) {
  return {};
}
LocalUse UseOf(const NvlinkConfig& /*config*/) {
  return {};
}
LocalUse UseOf(const UfmConfig& config) {
  return {.files = {{"caFile", config.server.ca_file}}, .program = ""};
}
LocalUse UseOf(const InfinibandConfig& config) {
  if (config.from_nodes) return {};
  const bool runs = config.file.empty();
  return {.files = {{"file", config.file}}, .program = runs ? config.command.front() : ""};
}
LocalUse UseOf(const RoceConfig& config) {
  return {.files = {{"lldpDir", config.lldp_dir}, {"caFile", config.server.ca_file}},
          .program = ""};
}
LocalUse UseOf(const ExecConfig& config) {
  return {.files = {}, .program = config.command.front()};
}
LocalUse UseOf(const TopographConfig& config) {
  return {.files = {{"file", config.file}, {"caFile", config.server.ca_file}}, .program = ""};
}

}  // namespace

Permissions Permissions::Everything() {
  Permissions permissions;
  permissions.everything_ = true;
  return permissions;
}

Result<Permissions> Permissions::Only(const std::vector<std::string>& paths,
                                      std::string secret_namespace) {
  Permissions permissions;
  permissions.secret_namespace_ = std::move(secret_namespace);
  for (const std::string& path : paths) {
    if (!IsPlainPath(path)) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("\"{}\": want the absolute path of a program, or of a folder with / "
                              "at its end, without . and ..",
                              path));
    }
    (path.ends_with('/') ? permissions.folders_ : permissions.programs_).push_back(path);
  }
  return permissions;
}

Status Permissions::CheckEntry(const SourceConfig& entry) const {
  if (everything_) return {};
  if (entry.secret && entry.secret->ns != secret_namespace_) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}.credentials.secretRef.namespace: \"{}\" is not allowed (want a "
                            "Secret of namespace {}, in which the configuration is)",
                            entry.where,
                            entry.secret->ns,
                            secret_namespace_));
  }
  const LocalUse use = std::visit([](const auto& config) { return UseOf(config); }, entry.config);
  if (!use.program.empty()) {
    if (const Result<std::string> found = ProgramPath(use.program); !found) {
      return tl::unexpected(Error(found.error()).Context(entry.where + ".config.command"));
    }
  }
  for (const auto& [field, path] : use.files) {
    if (path.empty()) continue;
    if (const Status allowed = CheckFile(path); !allowed) {
      return tl::unexpected(Error(allowed.error()).Context(entry.where + ".config." + field));
    }
  }
  return {};
}

Result<std::string> Permissions::ProgramPath(const std::string& name) const {
  if (everything_) return name;
  for (const std::string& program : programs_) {
    const bool by_name = name.find('/') == std::string::npos && program.ends_with("/" + name);
    if (program == name || by_name) return program;
  }
  return Fail(Code::kInvalidArgument,
              fmt::format("program \"{}\" is not allowed (--discovery-allow lists the allowed "
                          "programs: {})",
                          name,
                          Listed(programs_)));
}

Status Permissions::CheckFile(const std::string& path) const {
  const bool allowed =
      IsPlainPath(path) && std::any_of(folders_.begin(), folders_.end(), [&](const auto& folder) {
        return IsBelow(path, folder);
      });
  if (everything_ || allowed) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("\"{}\" is not in an allowed folder (--discovery-allow lists them: {})",
                          path,
                          Listed(folders_)));
}

Result<std::string> Permissions::FilePath(const std::string& path) const {
  if (everything_) return path;
  TRY(CheckFile(path));
  std::error_code error;
  const std::string real = std::filesystem::canonical(path, error).string();
  if (error) return Fail(Code::kNotFound, path + ": " + error.message());
  for (const std::string& folder : folders_) {
    const std::filesystem::path below = std::filesystem::canonical(folder, error);
    if (!error && IsBelow(real, (below / "").string())) return real;
  }
  return Fail(Code::kInvalidArgument, path + ": is a link to a place outside the allowed folders");
}

}  // namespace strata::discovery
