"""Insides of Ray: an option that its documentation calls internal, and where its workers import from."""

from typing import Any


def init_here(ray: Any, workers: int) -> None:
    """A cluster of this machine alone. Left to itself, Ray takes the machine's address for its own and listens there,
    where anybody on the network could have it run code."""
    ray.init(
        num_cpus=workers,
        include_dashboard=False,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
        job_config=installed_only(ray),
    )


def installed_only(ray: Any) -> Any:
    """For workers that import nothing from the current folder, which may hold files of anyone. Left to itself, Ray has
    them look there first, but for jobs that it takes for those of its client."""
    config = ray.job_config.JobConfig()
    config._client_job = True
    return config
