#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "convert/cluster_feed.h"
#include "model/resources.h"
#include "report/topology_report.h"

// A cluster as the page draws it: one list for each column (docs/page.md).
namespace strata::page {

// A position in a column; -1 is none.
using Place = std::int32_t;
inline constexpr Place kNowhere = -1;

// Columns in which few things have a value, by position.
template <typename T>
using Sparse = std::map<std::size_t, T>;

struct HyperNodeColumns {
  std::vector<std::string> name;
  std::vector<std::int32_t> tier;
  std::vector<Place> parent;
  std::vector<std::int64_t> nodes;
  std::vector<std::int64_t> fits;
  Sparse<std::string> reason;
};

struct NodeColumns {
  std::vector<std::string> name;
  std::vector<Place> leaf;
  Sparse<std::vector<Place>> also;  // other HyperNodes of the lowest tier of the node
  Sparse<std::string> note;
  std::vector<std::int64_t> gpus;
  std::vector<Place> links;                      // in link_shapes
  std::vector<std::vector<double>> used;         // by resource, then by node
  std::vector<std::vector<double>> allocatable;  // likewise
};

// How the GPUs of a node reach each other.
struct LinkShape {
  std::size_t gpus = 0;
  std::vector<std::string> links;                // "0-1 NV18+SYS"
  std::vector<std::vector<std::size_t>> groups;  // joined by NVLink

  bool operator==(const LinkShape&) const = default;
};

// A part of a GPU that a job has.
struct GpuPartHeld {
  Place job = kNowhere;
  double part = 0;

  bool operator==(const GpuPartHeld&) const = default;
};

// A cell for each GPU, in the order of the nodes.
struct GpuColumns {
  std::string state;  // f free, u used, s shared, h held by a pod that is being deleted, x off
  std::vector<Place> holder;
  Sparse<std::vector<GpuPartHeld>> shared;
};

// A HyperNode that nearly holds a waiting job.
struct NearMiss {
  Place hypernode = kNowhere;
  std::int32_t tier = 0;
  std::int64_t takes = 0;
  std::int64_t of = 0;

  bool operator==(const NearMiss&) const = default;
};

struct JobColumns {
  std::vector<std::string> ns;
  std::vector<std::string> name;  // "" for a job that went
  std::vector<std::string> pod_group;
  std::vector<std::string> phase;
  std::vector<std::string> queue;
  std::vector<std::int64_t> ready;
  std::vector<std::int64_t> total;
  std::vector<std::int64_t> min_available;
  std::vector<std::int64_t> gpus;
  std::vector<Place> hypernode;
  std::vector<std::int32_t> tier;
  std::vector<std::string> created;
  std::vector<std::string> reason;
  Sparse<std::string> user;  // whom the job says it belongs to
  Sparse<std::string> message;
  Sparse<std::vector<NearMiss>> nearest;
  Sparse<std::string> helps;
};

struct ClusterColumns {
  std::vector<std::string> resources;
  objects::ResourceList pod;                   // what `fits` counts
  std::vector<TopologyReport::TierFit> tiers;  // and where most of them fit
  HyperNodeColumns hypernodes;
  NodeColumns nodes;
  std::vector<LinkShape> link_shapes;
  GpuColumns gpus;
  JobColumns jobs;
};

// Whether positions of HyperNodes, nodes and GPUs mean the same in both.
[[nodiscard]] bool HaveSameLayout(const ClusterColumns& a, const ClusterColumns& b);

// What the sentence of a condition says beside the reason.
struct WaitWords {
  struct Miss {
    std::string hypernode;
    std::int32_t tier = 0;
    std::int64_t takes = 0;
    std::int64_t of = 0;
  };
  std::string message;  // without the advice
  std::vector<Miss> nearest;
  std::string helps;  // the advice; "" for none
};
// Pure; what is not there, or not written by Strata, is left empty.
[[nodiscard]] WaitWords ReadWaitWords(std::string_view message);

// Makes columns of a cluster, and remembers which position each job has. Apart from that it is a
// function of the feed. For one thread.
class ColumnsMaker {
 public:
  // REQUIRES: the feed is settled, and no cycle is running.
  // COST: O(nodes x depth + tasks), some milliseconds for 5,000 nodes.
  [[nodiscard]] ClusterColumns Make(const ClusterFeed& feed);
  // The position of a job ("namespace/podgroup") in what was made last.
  [[nodiscard]] Place PlaceOfJob(std::string_view name) const;
  // Positions may be used anew: a new epoch.
  void ForgetJobs() { places_.clear(); }
  // Whether most positions belong to jobs that went.
  [[nodiscard]] bool IsWasteful(std::size_t live_jobs) const {
    constexpr std::size_t kSpare = 1000;
    return places_.size() > 2 * live_jobs + kSpare;
  }

 private:
  std::map<std::string, Place, std::less<>> places_;  // every job of the epoch
};

// Amounts as people are told them: cores, bytes, pieces.
[[nodiscard]] double PlainNumber(std::string_view resource, Amount amount);
// The Job that owns the PodGroup, else the PodGroup itself.
[[nodiscard]] std::string NameOfJob(const objects::PodGroup& group);
// The lowest HyperNode that holds the pods of the job that have a node; none for none.
[[nodiscard]] HyperNodeId DomainOf(const ClusterState& state, const Job& job);
// The links of a node that registers its GPUs.
[[nodiscard]] LinkShape LinkShapeOf(const NodeGpus& gpus);

}  // namespace strata::page
