#include "replay/generate.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "replay/formats/table.h"

namespace strata::replay {
namespace {

tl::unexpected<Error> BadKey(std::string_view key,
                             std::string_view wanted,
                             std::string_view found) {
  return Fail(Code::kInvalidArgument, fmt::format("{}: want {}, found \"{}\"", key, wanted, found));
}

Result<std::int32_t> WholeNumber(std::string_view key, std::string_view text, std::int32_t most) {
  const auto number = ParseCount(text);
  if (!number || *number < 1 || *number > most) {
    return BadKey(key, fmt::format("a number from 1 to {}", most), text);
  }
  return *number;
}

Result<double> PositiveNumber(std::string_view key, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr double kLeast = 1e-9;
  constexpr double kMost = 1e9;
  if (error != std::errc{} || end != text.data() + text.size() ||
      !(number >= kLeast && number <= kMost)) {
    return BadKey(key, "a number from 10^-9 to 10^9", text);
  }
  return number;
}

Result<std::vector<GenerateTraceSpec::Share>> ParseSizes(std::string_view text) {
  std::vector<GenerateTraceSpec::Share> sizes;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('+', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const std::size_t colon = part.find(':');
    GenerateTraceSpec::Share share;
    constexpr std::int32_t kMost = 1'000'000;
    TRY_ASSIGN(share.gpus, WholeNumber("sizes", part.substr(0, colon), kMost));
    if (colon != std::string_view::npos) {
      const std::string_view rest = part.substr(colon + 1);
      const std::size_t second = rest.find(':');
      TRY_ASSIGN(share.weight, WholeNumber("sizes", rest.substr(0, second), kMost));
      if (second != std::string_view::npos) {
        TRY_ASSIGN(share.duration, PositiveNumber("sizes", rest.substr(second + 1)));
      }
    }
    sizes.push_back(share);
    at = end + 1;
  }
  return sizes;
}

Status ReadKey(std::string_view key, std::string_view value, GenerateTraceSpec& spec) {
  constexpr std::int32_t kMaxJobs = 10'000'000;
  constexpr std::int32_t kMaxPod = 1024;
  if (key == "jobs") {
    TRY_ASSIGN(spec.jobs, WholeNumber(key, value, kMaxJobs));
  } else if (key == "rate") {
    TRY_ASSIGN(spec.rate, PositiveNumber(key, value));
  } else if (key == "duration") {
    TRY_ASSIGN(spec.duration, PositiveNumber(key, value));
  } else if (key == "sizes") {
    TRY_ASSIGN(spec.sizes, ParseSizes(value));
  } else if (key == "pods-of") {
    TRY_ASSIGN(spec.gpus_per_pod, WholeNumber(key, value, kMaxPod));
  } else {
    return Fail(
        Code::kInvalidArgument,
        fmt::format("unknown key \"{}\"; known are jobs, rate, duration, sizes, pods-of", key));
  }
  return {};
}

double DrawExponential(Random& random, double mean) {
  return -mean * std::log1p(-random.Unit());
}

}  // namespace

Result<GenerateTraceSpec> ParseGenerateTraceSpec(std::string_view text) {
  GenerateTraceSpec spec;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view part = text.substr(at, end - at);
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return Fail(Code::kInvalidArgument, fmt::format("\"{}\": want KEY=VALUE", part));
    }
    TRY(ReadKey(part.substr(0, equals), part.substr(equals + 1), spec));
    at = end + 1;
  }
  return spec;
}

Trace GenerateTrace(const GenerateTraceSpec& spec, std::uint64_t seed) {
  Random random(seed);
  Trace trace;
  trace.format = "generated";
  std::string sizes;
  std::uint64_t weights = 0;
  for (const GenerateTraceSpec::Share& share : spec.sizes) {
    weights += static_cast<std::uint64_t>(share.weight);
    sizes += fmt::format("{}{}:{}", sizes.empty() ? "" : "+", share.gpus, share.weight);
    if (share.duration > 0) sizes += fmt::format(":{}", share.duration);
  }
  trace.provenance = {
      fmt::format("# Synthetic: strata replay generate jobs={},rate={},duration={},sizes={},"
                  "pods-of={} --seed {}",
                  spec.jobs,
                  spec.rate,
                  spec.duration,
                  sizes,
                  spec.gpus_per_pod,
                  seed)};
  double now = 0;
  for (std::int32_t i = 0; i < spec.jobs; ++i) {
    now += DrawExponential(random, 1 / spec.rate);
    TraceJob job;
    job.name = fmt::format("job-{:07}", i + 1);
    job.submit = static_cast<Millis>(now * 1000);
    const double length = DrawExponential(random, 1);
    std::uint64_t drawn = random.Below(weights);
    std::size_t chosen = 0;
    while (drawn >= static_cast<std::uint64_t>(spec.sizes[chosen].weight)) {
      drawn -= static_cast<std::uint64_t>(spec.sizes[chosen++].weight);
    }
    const GenerateTraceSpec::Share& share = spec.sizes[chosen];
    const double mean = share.duration > 0 ? share.duration : spec.duration;
    job.duration = static_cast<Millis>(length * mean * 1000);
    const std::int32_t gpus = share.gpus;
    job.pods = (gpus + spec.gpus_per_pod - 1) / spec.gpus_per_pod;
    job.gpus = std::min(gpus, spec.gpus_per_pod);
    job.last_gpus = gpus - job.gpus * (job.pods - 1);
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

}  // namespace strata::replay
