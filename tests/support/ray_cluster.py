"""A Ray cluster of two nodes in a process of its own: prints its address, then obeys a line a time.

Each node has one CPU, the second a GPU that exists only in Ray's books.

`remove` kills the second node and `add` brings another; the end of the input ends the cluster.
"""

import os
import sys

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  # the 15 of Ray starves runs beside other work
from ray.cluster_utils import Cluster


def main() -> None:
    """Serve."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    node = cluster.add_node(num_cpus=1, num_gpus=1)
    print(f"address {cluster.address}", flush=True)
    for line in sys.stdin:
        if line.strip() == "remove":
            cluster.remove_node(node, allow_graceful=False)
        else:
            node = cluster.add_node(num_cpus=1, num_gpus=1)
        print("done", flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    main()
