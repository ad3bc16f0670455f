"""`pagemind usage`: tokens and cost of each agent, and of all."""

from pagemind.runtime.cli.options import AsJson, HomeFolder


def usage(as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Show what each agent's model calls took: steps, tokens, cost."""
    from pagemind.runtime.cli.render import listing, money, table
    from pagemind.runtime.cli.session import opened

    items = []
    with opened(home) as runtime:
        for info in runtime.agents():
            with runtime.reader(info.name) as reader:
                steps, used, cost, known = reader.state.history.usage()
            items.append(
                {
                    "agent": info.name,
                    "model": info.model,
                    "steps": steps,
                    "prompt_tokens": used.prompt_tokens,
                    "completion_tokens": used.completion_tokens,
                    "cached_tokens": used.cached_tokens,
                    "cost": {"amount": cost, "currency": "USD", "known": known},
                }
            )
    if as_json:
        listing(items)
        return
    rows = [
        [
            item["agent"],
            f"{item['steps']:,}",
            f"{item['prompt_tokens']:,}",
            f"{item['cached_tokens']:,}",
            f"{item['completion_tokens']:,}",
            money(item["cost"]["amount"], item["cost"]["known"]),  # type: ignore[index]
            item["model"] or "–",
        ]
        for item in items
    ]
    table(
        ["agent", "calls", "sent", "cached", "received", "cost", "model"],
        rows,
        right="calls sent cached received cost",
        spare="cached",
    )
