"""The SDK's directory sync engine on a temporary folder, with a clock the test moves.

The engine is the real one, talking to the real server with a session's own key. Only two things are
arranged: the mount path points below the test's folder, and time passes when the test says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import anthropic

from support import Server

MARKER = ".anthropic-memory-store"
DELETE_WINDOW_SECS = 31.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Mounted:
    """One session's stores on disk. `races` run just before a request with their method is sent."""

    def __init__(self, server: Server, session_id: str, secret: str, folder: Path, clock: Clock) -> None:
        from anthropic.lib.tools._memories import SessionMemoryStores

        self.races: dict[str, Callable[[], object]] = {}
        self.sent: list[tuple[str, str]] = []
        self._clock = clock
        self._folder = folder
        self._session_id = session_id
        self._client = anthropic.AsyncAnthropic(
            auth_token=secret,
            base_url=server.base_url,
            http_client=anthropic.DefaultAsyncHttpxClient(event_hooks={"request": [self._before]}),
        )
        self.engine = SessionMemoryStores(self._client, workdir=folder)
        self.roots: list[Path] = []

    async def _before(self, request) -> None:
        self.sent.append((request.method, request.url.path))
        race = self.races.pop(request.method, None)
        if race is not None:
            await asyncio.to_thread(race)

    async def download(self) -> None:
        session = await self._client.beta.sessions.retrieve(self._session_id)
        for resource in session.resources:
            resource.mount_path = str(self._folder / resource.mount_path.lstrip("/"))
        await self.engine.download(session)
        self.roots = self.engine.roots

    async def sync(self, after_secs: float = 16.0) -> None:
        self._clock.now += after_secs
        await self.engine.sync_if_due()

    async def close(self) -> None:
        await self.engine.dispose()
        await self._client.close()

    @property
    def root(self) -> Path:
        return self.roots[0]

    def files(self) -> dict[str, str]:
        return {
            str(path.relative_to(self.root)): path.read_bytes().decode()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and path.name != MARKER
        }

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def run(mounted: Mounted, story: Callable[[Mounted], Awaitable[None]]) -> None:
    """Downloads, lets `story` happen, and always cleans up."""

    async def whole() -> None:
        try:
            await mounted.download()
            await story(mounted)
        finally:
            await mounted.close()

    asyncio.run(whole())
