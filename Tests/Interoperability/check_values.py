"""Compares the values that `service-values` prints with what `bluetooth-sig` makes of them.

Each value and each descriptor is decoded, and each field compared. What centrals write is encoded as well, and the bytes
compared. Where the library is known to be wrong, it has to be wrong in exactly the way that the tables in `Mistakes` tell.
"""

import datetime
import enum
import json
import logging
import math
import pathlib
import re
import sys
import tomllib
from dataclasses import dataclass

import msgspec
from bluetooth_sig.gatt.characteristics.registry import CharacteristicRegistry
from bluetooth_sig.gatt.descriptors.registry import DescriptorRegistry
from bluetooth_sig.gatt.exceptions import CharacteristicEncodeError, CharacteristicParseError, SpecialValueDetectedError

MISTAKES = pathlib.Path(__file__).parent / "Mistakes"
SERVICES = pathlib.Path(__file__).parents[2] / "Services"
ASSIGNED = SERVICES.parent / "Sources/PeripheralCore/BluetoothUUID+Assigned.swift"

# Services whose types the library does not know; the conformance scenarios are none.
UNKNOWN = {"NordicUART"}
NO_SERVICES = {"Conformance"}

# Types that services have, and that the library knows and does not decode.
UNDECODED = {"2a40"}

# The descriptors that have types of their own in the sources.
DESCRIPTIONS = {"UserDescription": "2901", "PresentationFormat": "2904", "ValidRange": "2906"}

# The names of what is compared beside the fields.
DECODED, ENCODED = "(decoded)", "(encoded)"


@dataclass(frozen=True)
class Difference:
    """Something that the library says otherwise."""

    service: str
    value: str
    field: str
    says: str

    def __str__(self) -> str:
        lines = ["[[mistake]]"]
        lines += [f"{name} = {json.dumps(getattr(self, name), ensure_ascii=False)}" for name in ("value", "field", "says")]
        return "\n".join(lines)


def plain(value):
    """What the library says, in the terms of JSON."""
    match value:
        case enum.Flag():
            return value.value
        case enum.Enum():
            return value.name
        case bytes() | bytearray():
            return value.hex()
        case datetime.datetime() | datetime.date() | datetime.time():
            return value.isoformat()
        case datetime.timedelta():
            return value.total_seconds()
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case dict():
            return {str(plain(key)): plain(item) for key, item in value.items()}
        case msgspec.Struct():
            return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
        case _ if hasattr(value, "__dataclass_fields__"):
            return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)


def is_absent(said) -> bool:
    """Whether the library says nothing; what a sample does not name has to be so."""
    return said is None or said is False or said in ("", [], {}) or (isinstance(said, dict) and all(map(is_absent, said.values())))


def is_equal(said, meant) -> bool:
    if isinstance(said, bool) or isinstance(meant, bool):
        return said is meant
    if isinstance(said, (int, float)) and isinstance(meant, (int, float)):
        return math.isclose(said, meant, rel_tol=1e-9, abs_tol=1e-12) or (math.isnan(said) and math.isnan(meant))
    return said == meant


def differences(said, meant, name=""):
    """The fields that are not as they are meant, by their names, with what the library says."""
    if isinstance(said, dict) and isinstance(meant, dict):
        for key in said | meant:
            field = f"{name}.{key}" if name else key
            if key not in said:
                yield field, "there is no such field"
            elif key in meant:
                yield from differences(said[key], meant[key], field)
            elif not is_absent(said[key]):
                yield field, said[key]
    elif isinstance(said, list) and isinstance(meant, list) and len(said) == len(meant):
        for index, (said_item, meant_item) in enumerate(zip(said, meant)):
            yield from differences(said_item, meant_item, f"{name}[{index}]")
    elif not is_equal(said, meant):
        yield name or DECODED, said


def examine(origin, uuid, data, meant):
    """What the library says otherwise of one value."""
    if origin == "descriptor":
        yield from examine_descriptor(uuid, data, meant)
        return
    characteristic = CharacteristicRegistry.get_characteristic(uuid)
    if characteristic is None:
        yield DECODED, "the type is not known"
        return
    try:
        value = characteristic.parse_value(data)
    except SpecialValueDetectedError as special:
        value = special.special_value
        yield from differences({"special": value.meaning}, meant)
    except CharacteristicParseError as error:
        yield DECODED, str(error)
        return
    else:
        found = list(differences(plain(value), meant))
        yield from found
        if found:
            return
    if origin == "written":
        # The decoded value has just been found to be what is meant, field by field.
        try:
            encoded = bytes(characteristic.build_value(value))
        except (CharacteristicEncodeError, ValueError, TypeError) as error:
            yield ENCODED, str(error)
            return
        if encoded != data:
            yield ENCODED, encoded.hex()


def examine_descriptor(uuid, data, meant):
    """What the library says otherwise of one descriptor."""
    descriptor = DescriptorRegistry.create_descriptor(uuid)
    if descriptor is None:
        yield DECODED, "the type is not known"
        return
    decoded = descriptor.parse_value(data)
    if decoded.parse_success:
        yield from differences(plain(decoded.value), meant)
    else:
        yield DECODED, decoded.error_message


def known_mistakes():
    known = {}
    for path in sorted(MISTAKES.glob("*.toml")):
        for mistake in tomllib.loads(path.read_text())["mistake"]:
            if not mistake.get("specification"):
                sys.exit(f"{path}: the specification has to be cited: {mistake}")
            difference = Difference(path.stem, mistake["value"], mistake["field"], mistake["says"])
            known[difference] = mistake["specification"]
    return known


def check_coverage(sampled):
    """Whether each service has samples, or is known to have none."""
    services = {path.name for path in SERVICES.iterdir() if path.is_dir()} - NO_SERVICES
    complaints = [f"{service}: it has no samples; add some, or name it in UNKNOWN" for service in services - sampled - UNKNOWN]
    complaints += [f"{service}: it is in UNKNOWN, and has samples or is gone" for service in UNKNOWN - (services - sampled)]
    return sorted(complaints)


def declared_types():
    """The types of what services have: by their names in the sources, or by their numbers."""
    numbers = dict(re.findall(r"var (\w+): BluetoothUUID \{ 0x(2[9AB]\w\w) \}", ASSIGNED.read_text()))
    numbers |= DESCRIPTIONS
    types = set()
    for path in SERVICES.glob("*/*.swift"):
        text = path.read_text()
        names = re.findall(r"(?:Characteristic|Descriptor)(?:<[^>]*>+)?\(\s*\.(\w+)", text)
        names += re.findall(r"\b(%s)\(" % "|".join(DESCRIPTIONS), text)
        names += re.findall(r"FitnessMachineKind\(\s*\.(\w+)|type = \.(\w+)", text)
        for name in names:
            types |= {numbers[part] for part in ([name] if isinstance(name, str) else name) if part in numbers}
        types |= set(re.findall(r"\b0x(2[AB][0-9A-F]{2})(?=[),])", text))
    return {number.lower() for number in types}


def check_types(sampled):
    """Whether each type that the library knows has a sample, but for those that it does not decode."""
    known = {
        uuid for uuid in declared_types()
        if CharacteristicRegistry.get_characteristic(uuid) or DescriptorRegistry.create_descriptor(uuid)
    }
    complaints = [f"{uuid}: the library knows it, and it has no sample" for uuid in known - sampled - UNDECODED]
    complaints += [f"{uuid}: it is in UNDECODED, and has a sample or is gone" for uuid in UNDECODED - (known - sampled)]
    return sorted(complaints)


def main():
    # What cannot be decoded is told below.
    logging.disable(logging.WARNING)
    known = known_mistakes()
    found, count, sampled, types = [], 0, set(), set()
    for line in sys.stdin:
        service, origin, uuid, data, fields = line.rstrip("\n").split(" ", 4)
        count += 1
        sampled.add(service)
        types.add(uuid)
        for field, said in examine(origin, uuid, bytes.fromhex(data), json.loads(fields)):
            text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
            found.append(Difference(service, f"{uuid} {data}", field, text))
    unknown = [difference for difference in found if difference not in known]
    gone = [difference for difference in known if difference not in found]
    for difference in unknown:
        print(f"{difference.service}: bluetooth-sig says otherwise:\n{difference}\n")
    for difference in gone:
        print(f"{difference.service}: bluetooth-sig is known to say otherwise, and no longer does:\n{difference}\n")
    uncovered = check_coverage(sampled) + check_types(types)
    for complaint in uncovered:
        print(complaint)
    print(f"{count} values compared with bluetooth-sig, {len(found) - len(unknown)} known mistakes of it")
    sys.exit(1 if unknown or gone or uncovered or not count else 0)


main()
