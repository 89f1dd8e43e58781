"""The directory of the ZIP archive that a torch file is, read without trusting it.

Own reader: the first two bytes of the archive may be another mark (GPT-SoVITS names the version there), and sizes must
be bounded before anything is read. Format: PKWARE APPNOTE 6.3, sections 4.3.7 to 4.3.16 and 4.5.3.
"""

import os
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

_END = struct.Struct("<4s4H2LH")
_END_MARK = b"PK\x05\x06"
_LOCATOR = struct.Struct("<4sLQL")
_END_64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_DIRECTORY_LIMIT = 16 << 20
_MOST_MEMBERS = 100_000
_ZIP64 = 0xFFFFFFFF
_ENCRYPTED = 1


class ZipTruncated(Exception):
    """The archive's end is not there."""


class ZipDamaged(Exception):
    """The archive contradicts itself; the message says how."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member: where its local header begins, its sizes in bytes, how it is packed (0 stored, 8 deflated)."""

    offset: int
    size: int
    packed: int
    method: int
    crc: int
    flags: int


def read_directory(file: BinaryIO, size: int) -> Mapping[str, Member]:
    """The members by name. `size`: the file's length.

    Raises ZipTruncated, ZipDamaged, OSError.
    """
    start, length, count = _find_directory(file, size)
    if length > _DIRECTORY_LIMIT or count > _MOST_MEMBERS:
        raise ZipDamaged(f"a directory of {count} members and {length} bytes")
    if start + length > size:
        raise ZipDamaged("the directory lies outside the file")
    file.seek(start)
    data = file.read(length)
    members: dict[str, Member] = {}
    position = 0
    for _ in range(count):
        name, member, position = _read_entry(data, position)
        if member.offset + _LOCAL.size + member.packed > start:
            raise ZipDamaged(f"member {name} reaches beyond the data")
        members[name] = member
    return members


def read_member(file: BinaryIO, member: Member, limit: int) -> bytes:
    """A small member's bytes, its checksum compared. Raises ZipDamaged, OSError; `limit` bounds the bytes."""
    if max(member.size, member.packed) > limit:
        raise ZipDamaged(f"a member of {max(member.size, member.packed)} bytes")
    if member.flags & _ENCRYPTED:
        raise ZipDamaged("an encrypted member")
    file.seek(member.offset)
    header = file.read(_LOCAL.size)
    # The first two bytes of the file may be a version mark, so those two are not looked at.
    if len(header) < _LOCAL.size or header[2:4] != b"\x03\x04":
        raise ZipDamaged("no local header where the directory says")
    *_, name_length, extra_length = _LOCAL.unpack(header)
    file.seek(name_length + extra_length, os.SEEK_CUR)
    data = file.read(member.packed)
    if member.method == 8:
        data = _inflate(data, member.size)
    elif member.method:
        raise ZipDamaged(f"packing method {member.method}")
    if len(data) != member.size or zlib.crc32(data) != member.crc:
        raise ZipDamaged("a checksum is wrong")
    return data


def _find_directory(file: BinaryIO, size: int) -> tuple[int, int, int]:
    tail_start = max(0, size - _END.size - 0xFFFF)
    file.seek(tail_start)
    tail = file.read(size - tail_start)
    at = tail.rfind(_END_MARK)
    if at < 0 or len(tail) - at < _END.size:
        raise ZipTruncated
    _, _, _, _, count, length, start, _ = _END.unpack_from(tail, at)
    locator_at = tail_start + at - _LOCATOR.size
    if locator_at >= 0:
        file.seek(locator_at)
        mark, _, end_64, _ = _LOCATOR.unpack(file.read(_LOCATOR.size))
        if mark == b"PK\x06\x07":
            return _find_directory_64(file, end_64, size)
    return start, length, count


def _find_directory_64(file: BinaryIO, at: int, size: int) -> tuple[int, int, int]:
    if at + _END_64.size > size:
        raise ZipDamaged("the 64-bit end record lies outside the file")
    file.seek(at)
    mark, *_, count, length, start = _END_64.unpack(file.read(_END_64.size))
    if mark != b"PK\x06\x06":
        raise ZipDamaged("no 64-bit end record where its locator says")
    return start, length, count


def _read_entry(data: bytes, position: int) -> tuple[str, Member, int]:
    try:
        mark, _, _, flags, method, _, _, crc, packed, size, names, extras, notes, _, _, _, offset = _ENTRY.unpack_from(
            data, position
        )
    except struct.error as error:
        raise ZipDamaged("the directory ends early") from error
    if mark != b"PK\x01\x02":
        raise ZipDamaged("the directory has an entry without its mark")
    begin = position + _ENTRY.size
    name = data[begin : begin + names].decode("utf-8", "replace")
    extra = data[begin + names : begin + names + extras]
    size, packed, offset = _widen(extra, [size, packed, offset])
    return name, Member(offset, size, packed, method, crc, flags), begin + names + extras + notes


def _widen(extra: bytes, values: list[int]) -> list[int]:
    """Values that did not fit in 32 bits stand in the extra field 1, in order."""
    if _ZIP64 not in values:
        return values
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            field = extra[at + 4 : at + 4 + length]
            wide = iter(struct.unpack(f"<{len(field) // 8}Q", field[: len(field) // 8 * 8]))
            return [next(wide, value) if value == _ZIP64 else value for value in values]
        at += 4 + length
    return values


def _inflate(data: bytes, size: int) -> bytes:
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, size + 1)
    except zlib.error as error:
        raise ZipDamaged("a packed member cannot be unpacked") from error
