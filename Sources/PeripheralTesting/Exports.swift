// The versions of BlueZ that a test asks about, so that one import is enough.
@_exported public import PeripheralBlueZModel
// What a `TestCentral` discovers and receives, and why it fails.
@_exported public import PeripheralVirtualServer

// What a test asks a `ScanResult` for, and what it emulates, so that one import is enough.
@_exported public import struct PeripheralCore.AdvertisementPayload
@_exported public import struct PeripheralCore.AdvertisingFlags
