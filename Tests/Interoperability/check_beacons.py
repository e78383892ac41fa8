"""Compares the beacons that `beacon-values` prints with what `beacontools` and `bthome-ble` make of them."""

import json
import logging
import math
import sys

from beacontools import parse_packet
from bluetooth_data_tools import parse_advertisement_data_bytes
from bthome_ble import BTHomeBluetoothDeviceData
from habluetooth import BluetoothServiceInfoBleak

logging.disable()
BEACONS = {
    "ibeacon": "IBeaconAdvertisement",
    "eddystone-uid": "EddystoneUIDFrame",
    "eddystone-url": "EddystoneURLFrame",
    "eddystone-tlm": "EddystoneTLMFrame",
}


def beacon(form, data, fields):
    """The fields of an iBeacon or Eddystone advertisement, by the names of `beacontools`."""
    packet = parse_packet(data)
    assert type(packet).__name__ == BEACONS[form], packet
    return {name: getattr(packet, name) for name in fields}


def bthome(_, data, fields):
    """The fields of a BTHome packet, in the words of Home Assistant's parser."""
    address = fields.get("address", "AA:BB:CC:DD:EE:FF")
    _, _, service_data, _, _ = parse_advertisement_data_bytes(data)
    info = BluetoothServiceInfoBleak(
        name="Test", address=address, rssi=-60, manufacturer_data={}, service_data=service_data, service_uuids=[],
        source="local", device=None, advertisement=None, connectable=True, time=0.0, tx_power=None)
    key = fields.get("key")
    parser = BTHomeBluetoothDeviceData(bindkey=bytes.fromhex(key) if key else None)
    assert parser.supported(info)
    update = parser.update(info)
    found = {"sleepy": parser.sleepy_device}
    if key:
        assert parser.bindkey_verified, "the packet is not decrypted"
        found |= {"key": key, "address": address, "counter": int(parser.encryption_counter)}
    sensors = {k.key: v.native_value for k, v in update.entity_values.items() if k.key != "signal_strength"}
    sensors = {k: v.timestamp() if k == "timestamp" else v for k, v in sensors.items()}
    binary = {k.key: v.native_value for k, v in update.binary_entity_values.items()}
    events = {}
    for event_key, event in update.events.items():
        steps = (event.event_properties or {}).get("steps")
        events[event_key.key] = event.event_type + (f" {steps}" if steps is not None else "")
    found |= {n: v for n, v in (("sensors", sensors), ("binary", binary), ("events", events)) if v}
    version = next(iter(update.devices.values())).sw_version
    if not version.startswith("BTHome"):
        found["firmware"] = version
    if parser.device_type_id is not None:
        found["type"] = parser.device_type_id
    return {"sleepy": False} | fields, found


def is_equal(found, expected):
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(is_equal(found[k], expected[k]) for k in found)
    if isinstance(found, bool) or isinstance(expected, bool) or isinstance(found, str):
        return found == expected
    return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)


def main():
    count, failed, objects = 0, 0, set()
    for line in sys.stdin:
        form, digits, text = line.rstrip("\n").split(" ", 2)
        data, expected = bytes.fromhex(digits), json.loads(text)
        if form == "bthome":
            expected, found = bthome(form, data, expected)
            if "key" not in expected:
                objects.add(data[5])
        else:
            found = beacon(form, data, expected)
        count += 1
        if not is_equal(found, expected):
            failed += 1
            print(f"{form} {digits}\n  expected {expected}\n  found    {found}")
    from bthome_ble.const import MEAS_TYPES
    missing = sorted(MEAS_TYPES.keys() - objects)
    if missing:
        failed += 1
        print("No packet begins with the objects", " ".join(f"0x{number:02X}" for number in missing))
    print(f"{count} beacons, {failed} differences")
    sys.exit(1 if failed or count < 100 else 0)


main()
