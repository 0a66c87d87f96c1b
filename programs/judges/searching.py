"""Judges that look for evidence: what ranks texts for them, and what gives the texts' word vectors."""

from aisr.programs.judges.mould import Judge
from aisr.programs.judges.options import SearchOptions
from aisr.programs.retrieval.retrievers import Embed, Matcher, embedder, embedding_model, matcher


class Searching(Judge):
    """embed: what asks the retriever's embedding model, which is no part of the program."""

    given: SearchOptions
    embed: Embed | None = None

    @property
    def embedding_model(self) -> str | None:
        """The embedding model of its retriever; None for none."""
        return embedding_model(self.given.retriever)

    @property
    def match(self) -> Matcher:
        """What ranks texts. Raises UserError where it embeds with a model that nobody was said to ask."""
        return matcher(self.given.retriever, self.embed)


class Ranking(Searching):
    """One whose texts an evidence ranker can rank in the retriever's place. ranker: what was fitted for that."""

    @property
    def match(self) -> Matcher:
        """What ranks texts. Raises UserError as for others."""
        return self.ranker.matcher(self.vectors) if self.ranker else super().match

    @property
    def vectors(self) -> Embed:
        """What gives the word vectors of texts. Raises UserError as `match`."""
        return embedder(self.given.retriever, self.embed)
