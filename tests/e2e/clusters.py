"""Which cluster the live tests run on: our own (`strata apiserver`, `strata up`), or with STRATA_CLUSTER=kubernetes a real control plane with our
parts as processes, each with the rights that deploy/chart/rbac gives it. A Witness of the cluster tells what one process asked for from what others did."""
import os
import pathlib
import sys

IS_REAL = os.environ.get("STRATA_CLUSTER") == "kubernetes"

if IS_REAL:
    sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "kubernetes"))
    from real_cluster import RealServer as ApiServer  # pylint: disable=import-error
    from real_cluster import RealUp as Up  # pylint: disable=import-error
    from real_cluster import AuditedLogin as Witness  # pylint: disable=import-error
else:
    from api_server import ApiServer, Up
    from recording_proxy import RecordingProxy as Witness

__all__ = ["ApiServer", "IS_REAL", "Up", "Witness"]
