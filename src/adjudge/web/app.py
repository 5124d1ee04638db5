"""The server of one campaign: pages, API, and what guards them."""

from __future__ import annotations

import time
from collections.abc import Callable

from fastapi import FastAPI

from adjudge.campaigns.campaign import Campaign
from adjudge.core.version import VERSION
from adjudge.web import annotating, entering, files, organising, pages
from adjudge.web.access import Served
from adjudge.web.access_log import AccessLog
from adjudge.web.messages import add_messages
from adjudge.web.security import NO_TELEMETRY, Guard, read_site

__all__ = ["create_app"]


def create_app(
    campaign: Campaign, *, public_url: str | None = None, clock: Callable[[], float] = time.time
) -> FastAPI:
    """Make the server of a campaign (ASGI).

    Args:
        campaign: open; the caller closes its store.
        public_url: such as `https://judge.example.org`; None where browsers use its address.
        clock: seconds since 1970.

    Raises:
        UsageError: a public URL that is none.
    """
    site = read_site(public_url)
    app = FastAPI(
        title=f"Campaign {campaign.name}",
        version=VERSION,
        openapi_url=None,  # a route of the organiser's instead
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
    )
    app.state.served = Served(campaign=campaign, site=site, clock=clock)
    for room in (annotating, pages, files, entering, organising):  # who asks most is found first
        app.include_router(room.ROUTER)
    add_messages(app)
    app.add_middleware(Guard, site=site)
    app.add_middleware(AccessLog)
    return app
