"""Models that are to be asked in batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from adjudge.errors import UsageError
from adjudge.llm.batch.desk import Desk
from adjudge.llm.batch.model import BatchModel
from adjudge.llm.models import Models, OpenModel
from adjudge.llm.prices import batch_name
from adjudge.llm.providers import PROVIDERS
from adjudge.llm.remote import RemoteModel

__all__ = ["check_batches", "open_desk"]

_OPTION: Final = "--engine batch"


def check_batches(models: Models) -> None:
    """Refuse models that cannot be asked in batches, and those that need not be.

    Raises:
        UsageError: as said.
    """
    remotes = [model for model in models.all if isinstance(model.remote, RemoteModel)]
    if not remotes:
        raise UsageError(f"{_OPTION}: {models.name} is behind no wire; leave the option out")
    for model in remotes:
        if isinstance(model.remote, RemoteModel) and not model.remote.endpoint.provider.batch:
            known = ", ".join(row.name for row in PROVIDERS.values() if row.batch)
            raise UsageError(
                f"{_OPTION}: {model.remote.endpoint.provider.name} takes no batches that we know of; "
                f"{known} do, and servers at --base-url that speak as OpenAI does"
            )


def open_desk(models: Models, folder: Path, token: str) -> tuple[Models, Desk]:
    """The same models, asked in batches, and the desk that sends and fetches these.

    Args:
        models: as they are asked one by one.
        folder: run directory.
        token: of the run; its batches carry it.
    """
    opened: dict[str, OpenModel] = {}
    for model in models.all:
        if isinstance(model.remote, RemoteModel) and model.name not in opened:
            batched = BatchModel(model.remote.endpoint, model.name, folder)
            billed = batch_name(model.name)
            opened[model.name] = replace(model, model=batched, remote=batched, billed_as=billed)
    roles: Mapping[str, OpenModel] = {
        role: opened.get(model.name, model) for role, model in models.roles.items()
    }
    default = opened.get(models.default.name, models.default)
    desks = {m.model.name: m.model for m in opened.values() if isinstance(m.model, BatchModel)}
    return replace(models, default=default, roles=roles), Desk(desks, folder, token)
