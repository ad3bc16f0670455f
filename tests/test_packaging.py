"""What is written out in pyproject.toml is what lies in the folders."""

import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("runtime", "tools", "prompts", "agents")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def test_the_package_list_is_complete() -> None:
    """A forgotten subpackage works in a checkout but is missing from the wheel: none is."""
    found = {
        "pagemind." + ".".join(init.parent.relative_to(ROOT).parts)
        for folder in FOLDERS
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert found == set(SETUPTOOLS["packages"])


def test_every_folder_with_modules_is_a_package() -> None:
    """Without its __init__.py a folder would be left out of the list without a word."""
    bare = {
        path.parent.relative_to(ROOT)
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if not (path.parent / "__init__.py").exists()
    }
    assert not bare


def test_the_folders_are_mapped() -> None:
    """Each top-level folder imports under pagemind."""
    assert SETUPTOOLS["package-dir"] == {f"pagemind.{folder}": folder for folder in FOLDERS}


def test_every_data_file_is_shipped() -> None:
    """A file beside the modules is matched by a pattern of its package, so the wheel has it."""
    patterns = SETUPTOOLS["package-data"]
    missed = []
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if not path.is_file() or path.suffix in (".py", ".pyc"):
                continue
            package = "pagemind." + ".".join(path.parent.relative_to(ROOT).parts)
            if not any(path.match(pattern) for pattern in patterns.get(package, ())):
                missed.append(str(path.relative_to(ROOT)))
    assert not missed


def test_the_installed_version_is_the_projects() -> None:
    """The distribution that the tests see was installed from this project."""
    assert version("pagemind") == PROJECT["project"]["version"]


def test_the_licence_is_in_full() -> None:
    """LICENSE is the Apache License 2.0, from its title to its appendix."""
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Apache License\n" in text
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
