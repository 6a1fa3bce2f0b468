#include "agent/cdi_names.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/ascii.h"
#include "base/result.h"
#include "json/access.h"
#include "json/parse.h"
#include "objects/yaml_to_json.h"

namespace strata::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMaxBytes = std::uintmax_t{16} << 20U;

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A letter, then letters, digits and `others`; a letter or a digit at the end.
std::string ProblemOf(std::string_view what, std::string_view text, std::string_view others) {
  const auto allowed = [&](char c) {
    return IsLetter(c) || IsDigit(c) || others.find(c) != std::string_view::npos;
  };
  if (!text.empty() && IsLetter(text.front()) && (IsLetter(text.back()) || IsDigit(text.back())) &&
      std::all_of(text.begin(), text.end(), allowed)) {
    return "";
  }
  return fmt::format("\"{}\" is not a CDI {} (want a letter, then letters, digits and any of {})",
                     text,
                     what,
                     others);
}

std::vector<fs::path> FilesOf(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string ending = entry.path().extension();
    if (ending == ".json" || ending == ".yaml") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::string> ReadFile(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return Fail(Code::kUnavailable, error.message());
  if (size > kMaxBytes) return Fail(Code::kInvalidArgument, "larger than 16 MiB");
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(Code::kUnavailable, "cannot be opened");
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

// JSON is YAML, but read much faster by its own parser.
Result<std::string> ToJson(const fs::path& path, std::string text) {
  if (path.extension() == ".json") return text;
  TRY_ASSIGN(std::vector<std::string> documents, objects::YamlToJson(text));
  if (documents.size() != 1) return Fail(Code::kInvalidArgument, "not one YAML document");
  return std::move(documents.front());
}

Status AddNamesOf(const fs::path& path, std::set<std::string>& names) {
  TRY_ASSIGN(std::string text, ReadFile(path));
  TRY_ASSIGN(const std::string json, ToJson(path, std::move(text)));
  TRY_ASSIGN(const nlohmann::json root, ParseJson(json));
  const std::string kind = TextAt(root, {"kind"});
  if (kind.empty()) return Fail(Code::kInvalidArgument, "has no kind");
  for (const nlohmann::json& device : ListAt(root, {"devices"})) {
    names.insert(fmt::format("{}={}", kind, TextAt(device, {"name"})));
  }
  return {};
}

}  // namespace

std::string ProblemOfCdiVendor(std::string_view vendor) {
  return ProblemOf("vendor", vendor, "_-.");
}

std::string ProblemOfCdiClass(std::string_view name) {
  return ProblemOf("class", name, "_-");
}

CdiCheck CheckCdiNames(const std::vector<std::string>& wanted,
                       const std::vector<std::string>& folders) {
  CdiCheck check;
  std::set<std::string> names;
  for (const std::string& folder : folders) {
    for (const fs::path& path : FilesOf(folder)) {
      const Status read = AddNamesOf(path, names);
      if (!read) {
        check.problems.push_back(fmt::format("{}: {}", path.string(), read.error().message));
      }
    }
  }
  for (const std::string& name : wanted) {
    if (!names.contains(name)) check.missing.push_back(name);
  }
  return check;
}

}  // namespace strata::agent
