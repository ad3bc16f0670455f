"""make_embedder: the embedder that a definition or a person names."""

from pagemind.runtime.model import Embedder


def make_embedder(
    name: str,
    *,
    api_base: str | None = None,
    api_key: str | None = None,
    dimensions: int | None = None,
) -> Embedder | None:
    """`local/minilm`, `hashing` (tests), `none` (text search only: returns None), or any litellm
    embedding model, such as `openai/text-embedding-3-small`. Loads and connects to nothing yet."""
    wanted = name.strip()
    if wanted in ("", "none"):
        return None
    if wanted == "local/minilm":
        from pagemind.runtime.models.minilm_embedder import MiniLmEmbedder

        return MiniLmEmbedder()
    if wanted == "hashing":
        from pagemind.runtime.models.hashing_embedder import HashingEmbedder

        return HashingEmbedder(dimensions or 64)
    if wanted.startswith("local/"):
        from pagemind.runtime.errors import LocalModelError

        raise LocalModelError(
            f"no local embedding model is called {wanted!r}; there is local/minilm",
            hint="embedding: local/minilm, none, or a litellm name such as "
            "openai/text-embedding-3-small",
        )
    from pagemind.runtime.models.litellm_embedder import LitellmEmbedder

    return LitellmEmbedder(wanted, api_base=api_base, api_key=api_key, dimensions=dimensions)
