"""What every declared table refuses, whoever reads it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator


class Declared(BaseModel):
    """A table of a declaration: no unknown keys, no numbers that are not finite, no truth value for a number.

    Example:
        >>> class Sizes(Declared):
        ...     width: int = 1
        >>> Sizes(width=True)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        pydantic_core._pydantic_core.ValidationError: 1 validation error for Sizes
        ...
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_value_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        parts = value if isinstance(value, list | tuple) else (value,)
        if cls.model_fields[str(info.field_name)].annotation is not bool and any(
            isinstance(one, bool) for one in parts
        ):
            raise ValueError("it must not be true or false")
        return value
