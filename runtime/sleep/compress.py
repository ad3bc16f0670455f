"""Compress: old episodes that are like one another are told in short, in one digest each time.

Where more than fifty are older than two weeks, those within a small cosine distance become a digest
of high importance, with all of them as its sources. They go cold, recoverable; what is evergreen
stays, and so do the messages that they were made of. Without a model a digest says how many there
were, when, how they went, and the first and the last; with one it says what they had in common.
"""

from collections.abc import Sequence
from datetime import timedelta

from pagemind.runtime.cancel import CancelToken
from pagemind.runtime.passage import Passage
from pagemind.runtime.services import SearchFilters
from pagemind.runtime.settings import (
    COMPRESS_BATCH,
    COMPRESS_CLUSTERS,
    COMPRESS_MOST,
    DIGEST_IMPORTANCE,
    EPISODES_CLUSTER,
    EPISODES_MANY,
    EPISODES_OLD_DAYS,
)
from pagemind.runtime.sleep.derived import propose, record_body
from pagemind.runtime.sleep.digest import Cluster, digests
from pagemind.runtime.sleep.inherited import inherited
from pagemind.runtime.sleep.job import SleepContext
from pagemind.runtime.step_trust import untrusted


class Compress:
    """Implements Job."""

    name = "compress"

    def due(self, context: SleepContext) -> bool:
        if not context.spec.compress or not context.may_write("episodic"):
            return False
        return self._many(context) and bool(self._old(context, self._after(context), 1))

    def run(self, context: SleepContext, cancel: CancelToken) -> None:
        while True:
            cancel.check()
            with context.held():
                seeds = self._old(context, self._after(context), COMPRESS_BATCH)
                if not seeds or not self._many(context):
                    break
            clusters, last = self._clusters(context, seeds, cancel)
            if last is None:
                return  # no embedder works: they are looked at when one does
            texts = digests(context, clusters, cancel)
            with context.held(), context.state.database.transaction():
                for cluster, (text, trust) in zip(clusters, texts, strict=True):
                    self._keep(context, cluster, text, trust)
                context.set_cursor(self.name, last)
        context.written()

    def _after(self, context: SleepContext) -> int:
        """The newest episode whose like was looked for."""
        return int(context.cursor(self.name) or 0)

    @staticmethod
    def _old(context: SleepContext, after: int, limit: int) -> list[Passage]:
        before = context.now() - timedelta(days=EPISODES_OLD_DAYS)
        return context.state.passages.old("episode", before, after, limit)

    def _many(self, context: SleepContext) -> bool:
        return len(self._old(context, 0, EPISODES_MANY + 1)) > EPISODES_MANY

    def _clusters(
        self, context: SleepContext, seeds: Sequence[Passage], cancel: CancelToken
    ) -> tuple[list[Cluster], int | None]:
        """Episodes that are like one another, of one owner and scope, each in one cluster; and the
        last that was looked at, None where nothing can be told."""
        before = context.now() - timedelta(days=EPISODES_OLD_DAYS)
        filters = SearchFilters(kinds=("episode",), standings=("episode",), end=before)
        taken: set[int] = set()
        clusters: list[Cluster] = []
        told = False
        last = seeds[-1].number
        for seed in seeds:
            cancel.check()
            if seed.number in taken:
                continue
            near = context.near(seed.text, COMPRESS_MOST, filters)
            told = told or bool(near)
            close = [int(id[1:]) for id, cosine in near if cosine >= 1 - EPISODES_CLUSTER]
            with context.held():
                known = context.state.passages.get(close)
            cluster = [seed] + [
                each
                for each in known.values()
                if each.number not in taken | {seed.number} and _alike(each, seed)
            ]
            if len(cluster) > 1:
                clusters.append(sorted(cluster, key=lambda each: each.number))
                taken.update(each.number for each in cluster)
            if len(clusters) >= COMPRESS_CLUSTERS:
                last = seed.number
                break
        return clusters, last if told else None

    def _keep(self, context: SleepContext, cluster: Cluster, text: str, trust: int) -> None:
        heirs = inherited(cluster, shown_trust=trust, scope=context.scope)
        assert heirs is not None  # of one owner
        state = propose(
            context,
            self.name,
            "add",
            record_body(
                text,
                "digest",
                float(DIGEST_IMPORTANCE),
                heirs,
                cold={each.short_id: each.version for each in cluster},
            ),
            sources=[each.short_id for each in cluster],
            trust=heirs.trust,
            why=f"{len(cluster)} old episodes in short",
        )
        context.report.count("digests", int(state == "applied"))


def _alike(one: Passage, seed: Passage) -> bool:
    """Whether both may be told in one digest, as far as that does not depend on what they say."""
    a, b = one.facets, seed.facets
    same = a.owner == b.owner and a.scope == b.scope
    # A trusted one does not go cold for a digest that strangers worded.
    alike = untrusted(one.provenance.trust) == untrusted(seed.provenance.trust)
    return same and alike and not a.evergreen and one.standing == "episode"
