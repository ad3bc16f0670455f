"""What a token of a model costs, by litellm's registry."""

from pagemind.runtime.models import litellm_library


def price_of(name: str) -> tuple[float, float] | None:
    """US dollars for one token of a prompt and one of a reply; None where nobody knows. What runs
    in this house costs nothing."""
    if not name:
        return None
    if name.startswith(("local/", "scripted/")):
        return 0.0, 0.0
    try:
        found = litellm_library.load().get_model_info(name)
        return float(found["input_cost_per_token"]), float(found["output_cost_per_token"])
    except Exception:  # it raises whatever it likes about names it does not know
        return None
