"""`pagemind config`: what holds for every agent, in config.yaml of the home."""

from typing import Annotated

import typer

from pagemind.runtime.cli.options import AsJson, HomeFolder


def _keys(incomplete: str) -> list[str]:
    from pagemind.runtime.config import KEYS

    return [name for name in KEYS if name.startswith(incomplete)]


KeyName = Annotated[
    str, typer.Argument(metavar="KEY", help="A key; `list` shows all.", autocompletion=_keys)
]


def get(key: KeyName, as_json: AsJson = False, home: HomeFolder = None) -> int:
    """Print the value of a key; the exit code is 1 if it is not set."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.config import known, values
    from pagemind.runtime.settings import home_path

    name = known(key).name
    value = values(home_path(home)).get(name)
    if as_json:
        answer({"key": name, "value": value})
    elif value is not None:
        print(str(value).lower() if isinstance(value, bool) else value)
    return 0 if value is not None else 1


def set_(
    key: KeyName,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Its new value.")],
    as_json: AsJson = False,
    home: HomeFolder = None,
) -> None:
    """Set a key. Comments and all other lines stay as they are."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.config import path_of, set_value
    from pagemind.runtime.settings import home_path

    path = home_path(home)
    kept = set_value(path, key, value)
    if as_json:
        answer({"key": key, "value": kept})
    else:
        say(f"{key} is set in {path_of(path)}")


def unset(key: KeyName, as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Take a key out: its line is commented out."""
    from pagemind.runtime.cli.failure import say
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.config import path_of, set_value
    from pagemind.runtime.settings import home_path

    path = home_path(home)
    set_value(path, key, None)
    if as_json:
        answer({"key": key, "value": None})
    else:
        say(f"{key} is not set any more in {path_of(path)}")


def path(as_json: AsJson = False, home: HomeFolder = None) -> None:
    """Print where the file is, or would be."""
    from pagemind.runtime.cli.render import answer
    from pagemind.runtime.config import path_of
    from pagemind.runtime.settings import home_path

    found = path_of(home_path(home))
    if as_json:
        answer({"path": str(found), "exists": found.exists()})
    else:
        print(found)


def list_config(as_json: AsJson = False, home: HomeFolder = None) -> None:
    """List every key: what it is set to, and what it is for."""
    from pagemind.runtime.cli.render import listing, table
    from pagemind.runtime.config import KEYS, values
    from pagemind.runtime.settings import home_path

    found = values(home_path(home))
    if as_json:
        listing(
            [
                {"key": key.name, "value": found.get(key.name), "about": key.about}
                for key in KEYS.values()
            ]
        )
        return
    shown = {name: str(v).lower() if isinstance(v, bool) else v for name, v in found.items()}
    table(
        ["key", "value", "what for"],
        [[key.name, shown.get(key.name, "–"), key.about] for key in KEYS.values()],
    )
