// What a test asks a `ScanResult` for, and what it emulates, so that one import is enough.
@_exported public import struct PeripheralCore.AdvertisementPayload
@_exported public import struct PeripheralCore.AdvertisingFlags
@_exported public import struct PeripheralCore.BlueZVersion
