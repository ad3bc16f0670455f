"""Profiles: JSON of one entity, changed by paths, held to its schema, never emptied by machines."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagemind.runtime import profile_path
from pagemind.runtime.errors import ProfileMismatch
from pagemind.runtime.profile import Profile, apply_patch
from pagemind.runtime.profile_outline import outline
from pagemind.runtime.profile_schema import checked, schema_at, shipped_schemas

PETS: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "pets": {"type": "array", "items": {"$ref": "#/$defs/pet"}},
        "likes": {"type": "array", "items": {"type": "string"}},
        "work": {"type": "object", "additionalProperties": {"type": "string"}},
        "birthday": {"type": "string", "format": "date"},
        "code": {"type": "string", "pattern": "^(a+)+$"},
    },
    "$defs": {
        "pet": {
            "type": "object",
            "additionalProperties": False,
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "kind": {"enum": ["cat", "dog"]}},
        }
    },
}


# A hundred lines, and more schemas than there are seconds in a year.
BOMB = {
    "anyOf": [{"$ref": "#/$defs/d0"}] * 20,
    "$defs": {
        **{f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 20} for n in range(9)},
        "d9": {"type": "string"},
    },
}


def patched(value: dict[str, Any], **patch: Any) -> dict[str, Any]:
    return apply_patch(PETS, value, patch)


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("name", ("name",)),
        ("pets[0].name", ("pets", "0", "name")),
        ("pets.0.name", ("pets", "0", "name")),
        ("/pets/0/name", ("pets", "0", "name")),
        ("#/pets/-", ("pets", "-")),
        ("pets[-]", ("pets", "-")),
        ("pets[]", ("pets", "-")),
        ('work["full name"]', ("work", "full name")),
        ("/a~1b/m~0n", ("a/b", "m~n")),
        ("$.name", ("name",)),
    ],
)
def test_a_path_is_a_pointer_or_dotted(path: str, steps: tuple[str, ...]) -> None:
    """Both notations lead to the same steps."""
    assert profile_path.parse(path) == steps


@pytest.mark.parametrize("path", ["", "/", "#", ".", "a..b", "a[", "a]b", ".a", "/a//b", " "])
def test_what_is_no_path_is_refused(path: str) -> None:
    """The root is no field either: a model that names it would write over everything."""
    with pytest.raises(ValueError, match="write it like pets"):
        profile_path.parse(path)


@given(st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_name_can_be_reached_by_a_pointer(names: list[str]) -> None:
    """Whatever a key holds, RFC 6901 writes it, and what was set there is deleted again."""
    pointer = "".join("/" + each.replace("~", "~0").replace("/", "~1") for each in names)
    if pointer.rstrip() != pointer:
        return
    steps = profile_path.parse(pointer)
    assert steps == tuple(names)
    value = profile_path.put({"other": 1}, steps, 5, lambda steps: False)
    assert profile_path.take(value, steps) != value


def test_a_patch_makes_what_is_missing() -> None:
    """Objects and lists on the way are made by what the schema says; the given value is copied."""
    before: dict[str, Any] = {}
    value = apply_patch(PETS, before, {"/pets/0/name": "Biscuit", "work.since": "2019"})
    assert value == {"pets": [{"name": "Biscuit"}], "work": {"since": "2019"}}
    assert before == {}
    more = apply_patch(PETS, value, {"pets[-].name": "Ada", "pets[0].kind": "dog"})
    assert more["pets"] == [{"name": "Biscuit", "kind": "dog"}, {"name": "Ada"}]
    assert len(value["pets"]) == 1


def test_none_deletes() -> None:
    """A field or an item goes; deleting what is not there is told, with what is."""
    value = {"name": "Sam", "likes": ["tea", "rain"], "age": 7}
    assert patched(value, age=None) == {"name": "Sam", "likes": ["tea", "rain"]}
    assert apply_patch(PETS, value, {"likes[0]": None})["likes"] == ["rain"]
    with pytest.raises(ProfileMismatch, match=r"nothing at nam to delete; did you mean name"):
        patched(value, nam=None)
    with pytest.raises(ProfileMismatch, match=r"nothing at likes\[2\].*likes has 2 items"):
        apply_patch(PETS, value, {"likes[2]": None})


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        ({"nam": "Sam"}, "no field is called 'nam'; did you mean 'name'"),
        ({"age": "seven"}, "age: 'seven' is not of type 'integer'"),
        ({"age": -1}, "age: -1 is less than the minimum"),
        ({"age": True}, "age: True is not of type 'integer'"),
        ({"pets[0].kind": "cow"}, r"pets\[0\].kind: 'cow' is not one of"),
        ({"pets[1].kind": "dog"}, r"pets\[1\]: 'name' is a required property"),
        ({"pets[5].name": "Ada"}, r"pets has 1 item: the next is pets\[1\]"),
        ({"pets.name": "Ada"}, "say which by its number"),
        ({"name.first": "Sam"}, "name is 'Sam', which has no fields; set name itself"),
        ({"likes": "tea"}, r"likes\[-\] adds one to it"),
        ({"birthday": "in May"}, "birthday: 'in May' is not a 'date'"),
        ({"age": float("nan")}, "no JSON"),
        ({"work": {"a": {"b": "c"}}}, "work.a"),
        ({"name": None, "age": None, "pets": None}, "would empty it"),
        ({"name": "", "age": None, "pets[0]": None}, "would empty it"),
    ],
)
def test_what_breaks_the_schema_is_refused(patch: dict[str, Any], told: str) -> None:
    """With what is wrong and what would be right; the value is as it was."""
    value = {"name": "Sam", "age": 7, "pets": [{"name": "Biscuit"}]}
    before = json.dumps(value)
    with pytest.raises(ProfileMismatch, match=told):
        apply_patch(PETS, value, patch)
    assert json.dumps(value) == before


def test_a_weak_model_is_understood() -> None:
    """ "7" for a number, 7 for a text, the text of an object for the object."""
    assert patched({}, age="7", name=7) == {"age": 7, "name": "7"}
    given = apply_patch(PETS, {}, {"pets[0]": '{"name": "Biscuit"}', "likes": '["tea"]'})
    assert given == {"pets": [{"name": "Biscuit"}], "likes": ["tea"]}


def test_old_faults_do_not_stand_in_the_way() -> None:
    """Where the schema has changed, a profile is mended field by field; no fault may come to it."""
    schema = {**PETS, "required": ["name", "age"]}
    value = {"colour": "red", "shoe": 43, "pets": [{"name": "Biscuit"}]}
    one = apply_patch(schema, value, {"colour": None})
    two = apply_patch(schema, one, {"name": "Sam"})
    with pytest.raises(ProfileMismatch, match="no field is called 'hat'"):
        apply_patch(schema, two, {"hat": "tall"})
    with pytest.raises(ProfileMismatch, match="'name' is a required property"):
        apply_patch(schema, two, {"name": None})
    profile = Profile("sam", schema)
    assert len(profile.faults_of(profile.write(two))) == 2  # shoe, age
    assert profile.faults_of("") == profile.faults_of("{}") == []
    assert profile.faults_of("Sam, 43") == [
        "it is no JSON: expecting value: line 1 column 1 (char 0)"
    ]


def test_only_a_person_empties_a_profile() -> None:
    """A model that answers {} or "No data." does no harm."""
    profile = Profile("sam", PETS)
    text = profile.write({"name": "Sam"})
    for nothing in (
        "{}",
        '{"name": ""}',
        '{"pets": [], "likes": []}',
        "",
        "No data.",
        "[]",
        "null",
    ):
        with pytest.raises(ProfileMismatch):
            profile.rewritten(text, nothing)
    assert profile.rewritten(text, "{}", by_person=True) == "{}"
    assert profile.rewritten("", "{}") == "{}"
    with pytest.raises(ProfileMismatch, match="would empty it"):
        profile.rewritten("Sam likes tea.", "{}")  # a text that the block had before its profile


@pytest.mark.parametrize(
    "text",
    [
        '{"name": NaN}',
        '{"name": "a", "name": "b"}',
        '["a"]',
        "{" * 5000,
        '{"a":' * 40 + "1" + "}" * 40,
    ],
)
def test_what_is_no_sound_json_is_refused(text: str) -> None:
    """Also what Python would read, or read with a loss."""
    with pytest.raises(ProfileMismatch):
        Profile("sam", {}).rewritten("", text)


def test_the_text_is_stable() -> None:
    """The order is the schema's, then that of arrival; a field a line, a long list an item a line;
    reading it and writing it again changes nothing."""
    profile = Profile("sam", {**PETS, "additionalProperties": True})
    value = {"zoo": 1, "pets": [{"kind": "dog", "name": "Biscuit"}], "name": "Zoë", "alpha": 2}
    text = profile.write(value)
    assert text == (
        '{\n "name": "Zoë",\n "pets": [{"name": "Biscuit", "kind": "dog"}],\n'
        ' "zoo": 1,\n "alpha": 2\n}'
    )
    assert profile.write(profile.read(text)) == text
    long = profile.write({"likes": ["a long walk by the sea " * 2] * 3})
    assert long.count("\n") == 6


def test_a_pattern_cannot_be_made_to_take_for_ever() -> None:
    """A schema may come with an agent that somebody else has made."""
    with pytest.raises(ProfileMismatch, match="code"):
        patched({}, code="a" * 60 + "!")


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("persn", "did you mean 'person'"),
        (["name"], "must be a JSON schema"),
        ({"type": "array"}, "its type must be object"),
        ({"type": "objekt"}, "is no JSON schema"),
        ({"properties": {"a": {"$ref": "https://example.org/a"}}}, "leads nowhere"),
        ({"properties": {"a": {"$ref": "#/$defs/b"}}}, "leads nowhere"),
        ({"$ref": "#"}, "in a circle"),
        ({"properties": {"a": {"type": "string", "pattern": "("}}}, r"pattern|regex"),
        ({"patternProperties": {"^a": {}}}, "patternProperties is not held"),
        ({"properties": {"a": {"description": "x" * 30_000}}}, "of 20,000 characters"),
        (BOMB, "references lead to references"),
    ],
)
def test_a_bad_schema_is_told(written: object, told: str) -> None:
    """Nothing is fetched, and what could not be held is no schema here."""
    with pytest.raises(ValueError, match=told):
        checked(written)


@pytest.mark.parametrize("name", shipped_schemas())
def test_a_shipped_schema_is_sound(name: str) -> None:
    """It passes its own check, and its fields are told whole."""
    schema = checked(checked(name))
    assert not outline(schema).endswith("…")
    assert schema_at(schema, ["people", "0", "name"]) == {"type": "string"}


def test_a_schema_that_refers_to_itself_ends() -> None:
    """A tree of its own kind is told to some depth and held to any; one without end is a fault."""
    tree = {"properties": {"name": {"type": "string"}, "below": {"items": {"$ref": "#"}}}}
    assert "below: [" in outline(tree)
    with pytest.raises(ProfileMismatch, match=r"below\[0\].below\[0\].name"):
        apply_patch(tree, {}, {"below[0].below[0].name": ["x"]})
    many = {"properties": {f"f{n}": {"$ref": "#"} for n in range(300)}}
    assert checked(many)
    assert outline(many).endswith("…")
    assert schema_at(many, ["f1", "f2", "f3", "g"]) is None
    endless = {"anyOf": [{"$ref": "#"}]}
    assert outline(endless)
    assert Profile("it", endless).faults_of('{"a": 1}') == ["its schema leads in a circle"]
