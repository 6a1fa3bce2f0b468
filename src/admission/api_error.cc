#include "admission/api_error.h"

#include <fmt/format.h>

namespace strata::admission {
namespace {

// Keeps as many problems, and as much of their fields, as a client can read.
void KeepFirst(std::vector<schema::Problem>& problems) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 10U;
  constexpr std::size_t kMaxFieldBytes = 1024;
  std::size_t bytes = 0;
  std::size_t kept = 0;
  for (schema::Problem& problem : problems) {
    if (kept == kMaxCauses || bytes > kMaxBytes) break;
    problem.field = Shortened(problem.field, kMaxFieldBytes);
    bytes += problem.field.size() + problem.message.size();
    ++kept;
  }
  const std::size_t more = problems.size() - kept;
  if (more == 0) return;
  problems.resize(kept);
  problems.push_back({"", "FieldValueInvalid", fmt::format("and {} more problems", more)});
}

}  // namespace

std::string Shortened(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  // Not in the middle of a character.
  while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xC0U) == 0x80U) {
    --max_bytes;
  }
  return std::string(text.substr(0, max_bytes)) + "...";
}

std::string JoinProblems(const std::vector<schema::Problem>& problems) {
  std::string all;
  for (const schema::Problem& problem : problems) {
    if (!all.empty()) all += ", ";
    if (!problem.field.empty()) all += problem.field + ": ";
    all += problem.message;
  }
  return problems.size() == 1 ? all : "[" + all + "]";
}

ApiError ErrorAbout(const ResourceInfo& resource,
                    std::string_view name,
                    int code,
                    std::string_view reason) {
  ApiError error;
  error.code = code;
  error.reason = reason;
  error.name = name;
  error.group = resource.group;
  error.kind = resource.plural;
  return error;
}

ApiError Forbidden(const ResourceInfo& resource, std::string_view name, std::string_view why) {
  ApiError error = ErrorAbout(resource, name, 403, "Forbidden");
  error.message = fmt::format("{} \"{}\" is forbidden: {}", resource.FullName(), name, why);
  return error;
}

ApiError Invalid(const ResourceInfo& resource,
                 std::string_view name,
                 std::vector<schema::Problem> problems) {
  KeepFirst(problems);
  ApiError error = ErrorAbout(resource, name, 422, "Invalid");
  error.kind = resource.kind;
  const std::string kind =
      resource.group.empty() ? resource.kind : resource.kind + "." + resource.group;
  error.message = fmt::format("{} \"{}\" is invalid: {}", kind, name, JoinProblems(problems));
  error.causes = std::move(problems);
  return error;
}

}  // namespace strata::admission
