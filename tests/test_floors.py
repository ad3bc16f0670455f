"""The house stands: imports point down only, and each heavy library has one importer.

The floors are those of docs/architecture.md. Whoever adds a module gives it a floor here,
none below what it imports.
"""

import ast
import functools
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

# A package stands for all its modules. Modules of one floor may import each other, not in circles.
FLOORS: dict[int, str] = {
    0: "errors settings clock cancel message event trace written_path",
    1: """skill episode patch cleaning untrusted secret_scan
          arguments think shorten interpolation function_names yaml_reader definition_parts
          definition_faults definition template model tokens passage outbox services core_memory
          entity_names relations fact_timeline fact time_asked
          page page_table page_tree transcript pins parts gist view when filters text_calls
          fifo_queue tool_use person request_digest document intake faces naming eval_cases
          image_header trace_file config exchange mcp_use recurrence scope profile profile_path
          profile_schema profile_outline memory_kinds importance
          json_reply sight keeping memory_bounds scope_guess item record_heat
          trust_terms step_trust targets argument_provenance""",
    2: "main_context pressure legalise request_json",
    3: "models state tiers documents",
    4: """wording dropped_plans sources lineage_walk why summarizer gist_writer idle_gists flush
          queue_manager tool
          function_executor
          deadline
          approvals turn_rules gate in_view tainted_services earlier acceptance
          usual_words shared_copies shared_archives
          archival_memory
          entity_resolver facts fact_search fact_placing agent_facts fact_sources
          core_editor attachment page_reader page_finder passage_reader part_size pinning
          paging telling search_view nearness prefetch inspection invariants
          finding semantic_invariants reembed ingested record_laws
          ingest tiers_reader tiers_writer memory_records archive memory item_store archives
          agent_archives
          recorder spans mould past_request past_turns moment memory_diff moved lines_seen mend
          time_machine shared_laws audit episodes fingerprint timers permitted related
          skill_book skills instructions
          held source_named bursts floods taken_out descent retold trusting trust_invariants""",
    5: """turn heartbeat model_caller loop turn_runner agent_inbox agent feedback errand structured
          deep_recall
          mcp sleep background""",
    6: "tools",
    7: """fork portable inspector model_choice made_of own_window
          record_services boot trust_view reader writer upgrade runtime evaluation past
          replay replayed_consent setup house together sharers tasks memory_answers search_answer
          reviewing quarantine revoke
          skill_answers awake http mcp_server erasure""",
    8: "cli demo testing",
}
FLOOR = {name: floor for floor, names in FLOORS.items() for name in names.split()}

# Imported anywhere in a module, a library may be named only there.
IMPORTERS = {
    "litellm": ("runtime/models/",),
    "lancedb": ("runtime/tiers/",),
    "pyarrow": ("runtime/tiers/", "runtime/portable/parquet.py"),
    "mcp": ("runtime/mcp/", "runtime/mcp_server/"),
    "mcp_types": ("runtime/mcp/", "runtime/mcp_server/"),
    "httpx2": ("runtime/mcp/",),
    "ijson": ("runtime/portable/foreign/source.py",),
    "xllamacpp": ("runtime/models/",),
    "onnxruntime": ("runtime/models/",),
    "pypdf": ("runtime/documents/pdf_reader.py",),
    "bs4": ("runtime/documents/html_reader.py",),
    "markdownify": ("runtime/documents/html_reader.py",),
    "mammoth": ("runtime/documents/docx_reader.py",),
    "sqlite3": ("runtime/state/",),
    "starlette": ("runtime/http/",),
    "uvicorn": ("runtime/http/", "runtime/mcp_server/"),
    "ruamel": ("runtime/yaml_reader.py",),
    "time": ("runtime/clock.py",),
    "uuid": ("runtime/clock.py",),
    "cronsim": ("runtime/recurrence.py",),
}


def modules() -> dict[str, ast.Module]:
    """The dotted name under pagemind and the tree of every module."""
    found = {}
    for folder in ("runtime", "tools"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[dotted.removesuffix(".__init__")] = ast.parse(path.read_text(encoding="utf-8"))
    return found


MODULES = modules()


@functools.cache
def imports(tree: ast.Module) -> set[str]:
    """Every module this one names, imports inside functions and for types among them."""
    named: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            named.add(node.module)
            named.update(f"{node.module}.{alias.name}" for alias in node.names)
    return named


def inside(tree: ast.Module) -> set[str]:
    """The project's own modules that this one imports."""
    own = {name.removeprefix("pagemind.") for name in imports(tree) if name.startswith("pagemind.")}
    return {name for name in own if name in MODULES and name != "runtime"}


def floor(module: str) -> int:
    """The floor of a module; KeyError if it has none."""
    return FLOOR[step(module)]


def step(module: str) -> str:
    """By which name of a module its floor is known: `tools`, a folder or a file of the runtime."""
    steps = module.split(".")
    return steps[0] if steps[0] == "tools" else steps[1]


HOUSE = [name for name in MODULES if name != "runtime"]  # the façade resolves names lazily


def test_every_module_has_a_floor() -> None:
    """Also a new one."""
    assert not [name for name in HOUSE if step(name) not in FLOOR]


def test_a_module_imports_only_from_its_floor_or_below() -> None:
    """No module reaches up."""
    above = [
        f"{module} (floor {floor(module)}) imports {name} (floor {floor(name)})"
        for module in HOUSE
        for name in inside(MODULES[module])
        if floor(name) > floor(module)
    ]
    assert not above, "\n".join(above)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """The whole graph has an order, floors or not."""
    graph = {name: inside(MODULES[name]) - {name} for name in HOUSE}
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


@pytest.mark.parametrize("library", IMPORTERS)
def test_a_library_has_one_importer(library: str) -> None:
    """What must be translated or controlled in one place is imported in one place."""
    strays = []
    for name, tree in MODULES.items():
        path = name.replace(".", "/") + ".py"
        if path.startswith(IMPORTERS[library]) or f"{path[:-3]}/" in IMPORTERS[library]:
            continue
        if any(each.split(".")[0] == library for each in imports(tree)):
            strays.append(path)
    assert not strays


def test_no_heavy_library_is_imported_at_the_head() -> None:
    """Importing a module never loads what takes a person's time."""
    heavy = {"litellm", "lancedb", "pyarrow", "numpy", "onnxruntime", "xllamacpp", "tokenizers"}
    heavy |= {"pypdf", "bs4", "markdownify", "mammoth", "mcp", "mcp_types", "httpx2"}
    heads = [
        f"{module} imports {name}"
        for module, tree in MODULES.items()
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in imports(ast.Module([node], []))
        if name.split(".")[0] in heavy
    ]
    assert not heads, "\n".join(heads)
