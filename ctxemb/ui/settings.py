"""Controls made from a settings model's own declaration: its defaults, ranges and help texts."""

from collections.abc import Collection
from typing import Any, TypeVar, get_args

import streamlit as st
from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo

Settings = TypeVar("Settings", bound=BaseModel)


def choose_settings(kind: type[Settings], leave_out: Collection[str] = ()) -> Settings:
    """A control for each number or switch of a settings model; an empty one where it may be None.

    Args:
        kind: the model.
        leave_out: fields that keep their default.
    """
    names = [name for name in kind.model_fields if name not in leave_out]
    values: dict[str, Any] = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in names:
            label = name.removeprefix("num_").replace("_", " ").capitalize()
            values[name] = _control(kind.model_fields[name], label, f"{kind.__name__}.{name}")
    return kind.model_validate({name: value for name, value in values.items() if value is not None})


def _control(field: FieldInfo, label: str, key: str) -> Any:
    if field.annotation is bool:
        return st.checkbox(label, field.default, key=key, help=field.description, persist_state="session")
    is_float = float in (field.annotation, *get_args(field.annotation))
    step = 0.05 if is_float else 1
    lowest, highest = _range(field, step)
    return st.number_input(
        label,
        min_value=lowest,
        max_value=highest,
        value=field.default,
        step=step,
        key=key,
        help=field.description,
        placeholder="no limit",
        width=170,
        persist_state="session",
    )


def _range(field: FieldInfo, step: float) -> tuple[Any, Any]:
    """The lowest and highest value that a control with this step may take."""
    lowest = highest = None
    for bound in field.metadata:
        match bound:
            case Ge(ge=value):
                lowest = value
            case Gt(gt=value):
                lowest = value + step  # pyright: ignore[reportOperatorIssue] (a number, as the fields are)
            case Le(le=value):
                highest = value
            case Lt(lt=value):
                highest = value - step  # pyright: ignore[reportOperatorIssue]
    return lowest, highest
