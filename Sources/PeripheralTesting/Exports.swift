// What a test asks a `ScanResult` for, so that one import is enough.
@_exported public import struct PeripheralCore.AdvertisementPayload
@_exported public import struct PeripheralCore.AdvertisingFlags
