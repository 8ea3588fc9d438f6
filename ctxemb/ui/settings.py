"""Controls made from a settings model's own declaration: its defaults, ranges and help texts."""

import math
from collections.abc import Collection, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import streamlit as st
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

Settings = TypeVar("Settings", bound=BaseModel)
USUAL_STEP = 0.05
UNSET = "as usual"


def choose_settings(kind: type[Settings], leave_out: Collection[str] = ()) -> Settings:
    """A control for each field of a settings model; an empty one where it may be None.

    Args:
        kind: the model.
        leave_out: fields that keep their default.
    """
    names = [name for name in kind.model_fields if name not in leave_out]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        values = choose_values(kind, names, {}, kind.__name__)
    return kind.model_validate({name: value for name, value in values.items() if value is not None})


def choose_values(kind: type[BaseModel], names: Sequence[str], start: Mapping[str, Any], key: str) -> dict[str, Any]:
    """A control for some fields of a settings model, and what they are set to; the model is not built.

    Args:
        kind: the model.
        names: which fields, in order.
        start: values to begin with, in place of the model's defaults.
        key: tells these controls from all others.
    """
    values: dict[str, Any] = {}
    for name in names:
        field = kind.model_fields[name]
        label = name.removeprefix("num_").replace("_", " ").capitalize()
        values[name] = _control(field, label, f"{key}.{name}", start.get(name, field.default))
    return values


def _control(field: FieldInfo, label: str, key: str, value: Any) -> Any:
    shared: dict[str, Any] = {"key": key, "help": field.description, "persist_state": "session"}
    if field.annotation is bool:
        return st.checkbox(label, value, **shared)
    kinds = _kinds(field.annotation)
    if choices := _choices(kinds):
        options = [None, *choices] if NoneType in kinds else choices
        shared["format_func"] = lambda option: UNSET if option is None else str(option)
        return st.selectbox(label, options, options.index(value), width=170, **shared)
    if any(get_origin(kind) is tuple for kind in kinds):
        written = st.text_input(label, ", ".join(map(str, value)), width=170, **shared)
        return [int(part) if part.strip().isdecimal() else part.strip() for part in written.split(",") if part.strip()]
    if str in kinds:
        return st.text_input(label, value, width=170, **shared)
    return _number(field, label, value, shared, is_float=float in kinds)


def _kinds(annotation: Any) -> Sequence[Any]:
    """The types that a field may have."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _choices(kinds: Sequence[Any]) -> list[Any]:
    """What can be chosen among; nothing for numbers and words."""
    named = [option for kind in kinds if get_origin(kind) is Literal for option in get_args(kind)]
    return [*named, True, False] if bool in kinds else named


def _number(field: FieldInfo, label: str, value: Any, shared: dict[str, Any], is_float: bool) -> Any:
    step = _step(value) if is_float else 1
    lowest, highest = field_range(field, step)
    return st.number_input(
        label,
        min_value=lowest,
        max_value=highest,
        value=value,
        step=step,
        format="%g" if is_float and step != USUAL_STEP else None,
        placeholder="no limit",
        width=170,
        **shared,
    )


def _step(value: float | None) -> float:
    """What one press changes: a twentieth, or of small numbers their last digit."""
    return USUAL_STEP if not value or abs(value) >= USUAL_STEP else 10.0 ** math.floor(math.log10(abs(value)))


def field_range(field: FieldInfo, step: float) -> tuple[Any, Any]:
    """The lowest and highest value that a control with this step may take."""
    lowest = highest = None
    margin = step if isinstance(step, int) else step / 1_000  # of a float that has to be above, how little
    kind = type(step)
    for bound in field.metadata:
        match bound:
            case Ge(ge=value):
                lowest = kind(value)  # pyright: ignore[reportArgumentType] (a number, as the fields are)
            case Gt(gt=value):
                lowest = kind(value) + margin  # pyright: ignore[reportArgumentType]
            case Le(le=value):
                highest = kind(value)  # pyright: ignore[reportArgumentType]
            case Lt(lt=value):
                highest = kind(value) - margin  # pyright: ignore[reportArgumentType]
    return lowest, highest
