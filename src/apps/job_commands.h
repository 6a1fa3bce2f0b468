#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/command_line.h"
#include "apps/flags.h"
#include "inspect/job_choice.h"
#include "inspect/job_report.h"
#include "inspect/live_cluster.h"

// What the commands below `strata job` share.
namespace strata {

struct JobFlags {
  kube::ConnectionFlags connection;
  std::string ns;  // "" for that of the context
  bool all_namespaces = false;
  std::string name;
  bool yes = false;
  bool watch = false;
  inspect::JobChoice choice;
  OutputFormat output = OutputFormat::kTable;
};

using ClusterPtr = std::unique_ptr<inspect::LiveCluster>;
[[nodiscard]] Result<ClusterPtr> Connect(const JobFlags& flags);
// That of -n, else that of the context.
[[nodiscard]] std::string NamespaceOf(const JobFlags& flags, const inspect::LiveCluster& cluster);
// The Job that the line names: NS/JOB, or JOB and -n.
[[nodiscard]] Result<kube::ObjectKey> KeyOf(const JobFlags& flags,
                                            const inspect::LiveCluster& cluster);
// The job that the line names, with or without a kind, and what has become of it.
[[nodiscard]] Result<inspect::JobReport> FindNamedJob(const JobFlags& flags,
                                                      inspect::LiveCluster& cluster,
                                                      std::vector<std::string>& warnings);
// An error of the command line when it names no job. CLI11 would ask for the flag alone.
void WantJobName(const JobFlags& flags);
// --kubeconfig, --context and -n.
void AddJobConnection(CLI::App& command, JobFlags& flags);
// The job as an argument, or as vcctl's flag -N.
void AddJobName(CLI::App& command, JobFlags& flags);

void AddJobRunCommand(CLI::App& parent, const char* footer, Run& run);
void AddJobLogsCommand(CLI::App& parent, const char* footer, Run& run);

}  // namespace strata
