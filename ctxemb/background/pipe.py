"""Messages on a byte stream: their length, then their bytes."""

import struct
from typing import BinaryIO

LENGTH = struct.Struct("<Q")


def write_message(stream: BinaryIO, message: bytes) -> None:
    """Send one message; may wait until the other side reads."""
    stream.write(LENGTH.pack(len(message)))
    stream.write(message)
    stream.flush()


def read_message(stream: BinaryIO) -> bytes:
    """Wait for one message.

    Raises:
        EOFError: if the other side is gone, perhaps in the middle of a message.
    """
    return _read_exactly(stream, LENGTH.unpack(_read_exactly(stream, LENGTH.size))[0])


def _read_exactly(stream: BinaryIO, num_bytes: int) -> bytes:
    content = stream.read(num_bytes)  # a buffered stream gives less only at its end
    if len(content) < num_bytes:
        raise EOFError("the other side of the pipe is gone")
    return content
