#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "discovery/config.h"

namespace strata::discovery {

// What a discovery configuration may use of the machine that reads it: programs, files, and the
// namespace of Secrets. The right to edit the controllers' ConfigMap must not include the right to
// run programs and to read files as the controllers. A value.
class Permissions {
 public:
  // For a configuration of the user's own.
  [[nodiscard]] static Permissions Everything();
  // The programs among `paths`, the files below the folders among them, which end in '/', and
  // Secrets of `secret_namespace`. kInvalidArgument unless each path is absolute and without "..".
  [[nodiscard]] static Result<Permissions> Only(const std::vector<std::string>& paths,
                                                std::string secret_namespace);

  // kInvalidArgument, naming entry and field, for an entry that names something else. Looks only at
  // the configuration: what a link in an allowed folder points to is the concern of FilePath.
  [[nodiscard]] Status CheckEntry(const SourceConfig& entry) const;

  // The path of the program to run. A name without '/' is the allowed program with this file name:
  // PATH is not searched. kInvalidArgument for any other program.
  [[nodiscard]] Result<std::string> ProgramPath(const std::string& name) const;
  // The path of a file or folder to read, without links. kInvalidArgument for one that is not in an
  // allowed folder, kNotFound for one that does not exist.
  [[nodiscard]] Result<std::string> FilePath(const std::string& path) const;

 private:
  Permissions() = default;

  [[nodiscard]] Status CheckFile(const std::string& path) const;

  bool everything_ = false;
  std::vector<std::string> programs_;
  std::vector<std::string> folders_;  // end in '/'
  std::string secret_namespace_;
};

}  // namespace strata::discovery
