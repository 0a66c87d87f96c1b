"""What a registered version's stored file calls, see `aisr.tracking.stored_model`; the name stays."""

from aisr.serving.served import model

__all__ = ["model"]
