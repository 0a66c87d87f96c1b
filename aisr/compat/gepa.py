"""Insides of GEPA: what its gate is called with (`acceptance_criterion`), which its public modules do not name."""

from gepa.core.state import GEPAState
from gepa.proposer.base import CandidateProposal

__all__ = ["CandidateProposal", "GEPAState"]
