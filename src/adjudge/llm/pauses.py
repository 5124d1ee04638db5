"""When nothing is sent to a server: it asked for a pause, it has trouble, or it is not there."""

from __future__ import annotations

from adjudge.llm.retry import Patience

__all__ = ["Pauses"]


class Pauses:
    """The pauses of one server; times are seconds on a monotonic clock.

    Args:
        patience: how long the pauses are that nobody asked for, and how long any may be.
        now: time.
    """

    def __init__(self, patience: Patience, now: float) -> None:
        self.until = now
        self.away: float | None = None
        """Since when the server cannot be reached; None while it can."""
        self._patience = patience
        self._began = now
        self._before = 0.0
        self._reacted = now - 1.0
        self._troubles = 0

    def left(self, now: float) -> float:
        """Seconds until calls may be sent."""
        return max(self.until - now, 0.0)

    def total(self, now: float) -> float:
        """Seconds of all pauses so far."""
        return self._before + max(min(now, self.until) - self._began, 0.0)

    def is_too_long(self, seconds: float, *, met: bool = True) -> bool:
        """Whether a run should rather be stopped than wait so long, for a server that it has met or not."""
        longest = self._patience.longest_wait
        return seconds > (longest if met else min(longest, self._patience.first_wait))

    def trouble(self, now: float, sent: float, asked: float | None) -> None:
        """Pause because of one call.

        Of calls that went out together and come back in trouble only the first lengthens the pause.

        Args:
            now: when it came back.
            sent: when it was sent.
            asked: seconds that the server asked for; None for as long as seems right.
        """
        is_news = self.is_news(sent)
        if is_news:
            self._reacted = now
            self._troubles += 1
        if asked is None and not is_news:
            return
        if now >= self.until:
            self._before += self.until - self._began
            self._began = now
        pause = self._patience.pause(self._troubles) if asked is None else asked
        self.until = max(self.until, now + pause)

    def lift(self, now: float) -> None:
        """End the pause: what asked for it meant one call."""
        self.until = min(self.until, now)

    def is_news(self, sent: float) -> bool:
        """Whether a call was sent after we last learnt of trouble, and so teaches something new."""
        return sent >= self._reacted

    def lost(self, now: float) -> float:
        """The server cannot be reached; for how many seconds now."""
        self.away = now if self.away is None else self.away
        return now - self.away

    def reached(self) -> None:
        """The server is there."""
        self.away = None

    def answered(self) -> None:
        """The server does what it should."""
        self._troubles = 0

    def describe(self, now: float) -> str:
        """What all calls wait for; empty where they do not."""
        if self.away is not None:
            return f"no server for {now - self.away:.0f} s"
        left = self.left(now)
        return f"the server wants a pause, {left:.0f} s left" if left >= 1 else ""
