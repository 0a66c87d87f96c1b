"""An inside of Ray: an option that its documentation calls internal."""

from typing import Any


def init_here(ray: Any, workers: int) -> None:
    """A cluster of this machine alone. Left to itself, Ray takes the machine's address for its own and listens there,
    where anybody on the network could have it run code."""
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
