"""A file for the Perfetto viewer: named lanes with spans, ticks and arrows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, final

_NANOSECONDS = 1e9
_SEQUENCE = 1


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """A span, or a tick if it has no end.

    Attributes:
        begin: s.
        end: s, None for a tick.
        name: What the viewer writes on it.
        leaves: Numbers of the arrows that begin here.
        arrives: Numbers of the arrows that end here; each of them begins once, somewhere.
        details: What the viewer shows when somebody clicks on it.
    """

    begin: float
    end: float | None
    name: str
    leaves: Sequence[int] = ()
    arrives: Sequence[int] = ()
    details: dict[str, Any] = field(default_factory=dict)


@final
class TraceFile:
    """Writes a trace lane by lane, packet by packet.

    Args:
        file: Open for writing bytes.

    Attributes:
        packets: Packets written so far.
    """

    def __init__(self, file: Any) -> None:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2

        self._proto, self._file = perfetto_trace_pb2, file
        self._tracks = 0
        self.packets = 0

    def lane(self, name: str, order: int, marks: Sequence[Mark]) -> None:
        """One lane; marks that would overlap go to further rows of it.

        Args:
            name: Its name.
            order: Lanes of smaller numbers come first.
            marks: In any order.
        """
        rows: list[list[Mark]] = [[]]
        free: list[float] = [0.0]  # when each row is free again
        for mark in sorted(marks, key=lambda mark: (mark.begin, mark.end or mark.begin)):
            row = 0
            if mark.end is not None:
                row = next((k for k, end in enumerate(free) if end <= mark.begin), len(rows))
                if row == len(rows):
                    rows.append([])
                    free.append(0.0)
                free[row] = mark.end
            rows[row].append(mark)
        for content in rows:
            self._row(name, order, content)

    def _row(self, name: str, order: int, marks: list[Mark]) -> None:
        """Rows of one name and place are drawn as one lane."""
        self._tracks += 1
        packet = self._proto.TracePacket()
        track = packet.track_descriptor
        track.uuid, track.name, track.sibling_order_rank = self._tracks, name, order
        track.child_ordering = track.EXPLICIT
        self._write(packet)
        for mark in marks:
            self._event(mark.begin, "INSTANT" if mark.end is None else "SLICE_BEGIN", mark)
            if mark.end is not None:
                self._event(mark.end, "SLICE_END", None)

    def _event(self, time: float, kind: str, mark: Mark | None) -> None:
        packet = self._proto.TracePacket()
        packet.timestamp = round(time * _NANOSECONDS)
        event = packet.track_event
        event.type = getattr(event, f"TYPE_{kind}")
        event.track_uuid = self._tracks
        if mark is not None:
            event.name = mark.name
            event.flow_ids.extend(mark.leaves)
            event.terminating_flow_ids.extend(mark.arrives)
            for key, value in mark.details.items():
                annotation = event.debug_annotations.add()
                annotation.name, annotation.string_value = key, str(value)
        self._write(packet)

    def _write(self, packet: Any) -> None:
        packet.trusted_packet_sequence_id = _SEQUENCE
        trace = self._proto.Trace()
        trace.packet.append(packet)
        self._file.write(trace.SerializeToString())
        self.packets += 1
