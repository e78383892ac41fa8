// BlueZ versions, so that a test needs one import only.
@_exported public import PeripheralBlueZModel
// The database, the updates and the errors of a `TestCentral`.
@_exported public import PeripheralVirtualServer

// The fields of a `ScanResult`, so that a test needs one import only.
@_exported public import struct PeripheralCore.AdvertisementPayload
@_exported public import struct PeripheralCore.AdvertisingFlags
