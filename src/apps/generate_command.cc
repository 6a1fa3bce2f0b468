#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "apps/input.h"
#include "base/timestamp.h"
#include "json/dump.h"
#include "kube/connection.h"
#include "objects/yaml_writer.h"
#include "virtual_nodes/generate.h"

namespace strata {
namespace {

constexpr const char* kGenerateFooter = R"(
Examples:
  strata generate spines=2,racks=2,nodes=4,gpus=8 > cluster.yaml
  strata simulate -f cluster.yaml -f jobs/
  strata generate spines=1,racks=4,nodes=8,gpus=8:hgxh100
                                                GPUs registered as HAMi's agent does, ten shares of each
  strata generate spines=1,racks=1,nodes=2 -o json --now 2026-01-01T00:00:00Z)";

struct GenerateFlags {
  virtual_nodes::GenerateSpec spec;
  std::optional<Time> now;
  OutputFormat output = OutputFormat::kYaml;
};

std::string RenderManifests(const GenerateFlags& flags) {
  using Json = nlohmann::ordered_json;
  const Time now = flags.now ? *flags.now : kube::SystemClock().Now();
  std::string yaml;
  Json items = Json::array();
  for (const auto& object : virtual_nodes::GenerateCluster(flags.spec, now)) {
    Json body = Json::parse(object.body, nullptr, false);
    if (flags.output == OutputFormat::kJson) {
      items.push_back(std::move(body));
    } else {
      yaml += (yaml.empty() ? "" : "---\n") + objects::WriteYaml(body);
    }
  }
  if (flags.output != OutputFormat::kJson) return yaml;
  Json list = {{"apiVersion", "v1"}, {"kind", "List"}};
  list["items"] = std::move(items);
  return DumpPrettyJson(list) + "\n";
}

}  // namespace

void AddManifestsCommand(CLI::App& app, Run& run) {
  CLI::App& command = *app.add_subcommand(
      "generate", "Print manifests of a cluster that is made up: nodes and HyperNodes");
  command.footer(kGenerateFooter);
  const auto flags = std::make_shared<GenerateFlags>();
  command
      .add_option_function<std::string>(
          "spec",
          [flags](const std::string& text) {
            flags->spec = virtual_nodes::ParseGenerateSpec(text).value();
          },
          "The cluster, as for up --generate: "
          "spines=S,racks=R,nodes=N[,gpus=G[:MODEL]][,cpu=C][,memory=M]")
      ->type_name("SPEC")
      ->required()
      ->check([](const std::string& text) {
        return MessageOf(virtual_nodes::ParseGenerateSpec(text));
      });
  command
      .add_option_function<std::string>(
          "--now",
          [flags](const std::string& text) { flags->now = ParseTimestamp(text).value(); },
          "The time at which the nodes were ready and registered their GPUs; default: now")
      ->type_name("RFC3339")
      ->check([](const std::string& text) { return MessageOf(ParseTimestamp(text)); });
  AddOutputFlag(command, flags->output, {"yaml", "json"});
  command.callback(
      [flags, &run] { run = [flags] { return PrintResult(RenderManifests(*flags), {}); }; });
}

}  // namespace strata
