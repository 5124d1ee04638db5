"""Columns of a result, declared once beside it: how people read them, what programs get, what they mean.

`reports/tables.py` makes tables of them for people and for programs, `Framed` makes data frames, and the page
about results is made of them, too. What a console, a notebook and a figure show is made by `core.renderer`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

from adjudge import core
from adjudge.core.extras import import_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Kind = Literal["text", "count", "score", "decimal", "p", "interval", "percent", "chance", "rank"]
"""How people read a value: `score` has the digits that its column can bear, `decimal` has fixed ones."""


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str  # for programs, in CSV, TSV and data frames; empty where programs do not get it
    says: str
    kind: Kind = "text"  # how people read it
    _: KW_ONLY
    # its value in a row: names of attributes with dots between, or a function; the name where left out. There
    # is no value where the attribute, or one on the way to it, is None.
    of: str | Callable[[Any], Any] = ""
    title: str | None = None  # heading for people, if not the name; empty where people do not see it
    digits: int = 3  # after the point of a `decimal`
    # names of the two columns that programs get of a pair, such as the ends of an interval
    ends: tuple[str, str] | None = None
    # what people read in place of what the kind would make of a value
    words: Callable[[Any], str] | None = None
    none: str = "–"  # what people read where there is no value

    def value(self, row: Any) -> Any:  # noqa: ANN401 (of any result)
        """Return the value in a row; None where there is none."""
        if callable(self.of):
            return self.of(row)
        for name in (self.of or self.name).split("."):
            if row is not None:
                row = row.get(name) if isinstance(row, Mapping) else getattr(row, name)
        return row

    @property
    def heading(self) -> str:
        """Heading for people; empty where they do not see the column."""
        return self.name if self.title is None else self.title

    @property
    def names(self) -> tuple[str, ...]:
        """What programs call it, or its two ends; nothing where they do not get it."""
        return self.ends or ((self.name,) if self.name else ())

    def values(self, row: Any) -> tuple[Any, ...]:  # noqa: ANN401 (the same)
        """Return what programs get of a row, as many values as there are names."""
        if self.ends is not None:
            return tuple(self.value(row) or (None, None))
        return (self.value(row),) if self.name else ()


def as_html(value: object) -> str | None:
    """What a notebook shows of a value of ours, whose class has it as `_repr_html_`."""
    html: str | None = core.renderer().render(value)
    return html


class Framed:
    """A result that is a table: its columns and its rows, at full precision."""

    _repr_html_ = as_html

    def __repr__(self) -> str:
        return str(core.renderer().render_text(self))

    def to_latex(self) -> str:
        """Its table, with notes, as a paper takes it; needs the packages booktabs and threeparttable.

        Raises:
            UsageError: there is no such table; says what has one.
        """
        return str(core.renderer().render_latex(self))

    def plot(self) -> Figure:
        """Draw the result with matplotlib.

        Raises:
            UsageError: there is no figure of such a result, or of this one; or matplotlib is not installed.
        """
        figure: Figure = core.renderer().figure_of(self).drawing
        return figure

    def columns(self) -> Sequence[Column]:
        """The columns that this result has."""
        raise NotImplementedError

    def groups(self) -> Mapping[str, Sequence[Any]]:
        """What the columns are of, a row each, by language pair; "" where there is one or none."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, list[Any]]:
        """Name of each column to its values; several language pairs have a column `lp`."""
        made: dict[str, list[Any]] = {}
        groups = self.groups()
        if "" not in groups:
            made["lp"] = [lp for lp, rows in groups.items() for _ in rows]
        for column in self.columns():
            cells = [column.values(row) for rows in groups.values() for row in rows]
            made |= {name: [cell[place] for cell in cells] for place, name in enumerate(column.names)}
        return made

    def to_polars(self) -> Any:  # noqa: ANN401 (polars need not be installed)
        """The result as a data frame of polars.

        Raises:
            UsageError: polars is not installed.
        """
        library = import_extra("polars")
        found = library.DataFrame(self.to_dict(), strict=False)
        types = {"text": library.String, "count": library.Int64, "rank": library.Int64}
        of = {name: types.get(c.kind, library.Float64) for c in self.columns() for name in c.names}
        empty = [name for name, kind in found.schema.items() if kind == library.Null and name in of]
        return found.cast({name: of[name] for name in empty})

    def to_pandas(self) -> Any:  # noqa: ANN401 (the same)
        """The result as a data frame of pandas.

        Raises:
            UsageError: pandas is not installed.
        """
        return import_extra("pandas").DataFrame(self.to_dict())

    def to_arrow(self) -> Any:  # noqa: ANN401 (the same)
        """The result as a table of Arrow.

        Raises:
            UsageError: polars or pyarrow is not installed.
        """
        import_extra("pyarrow")
        return self.to_polars().to_arrow()
