@_exported public import struct PeripheralCore.ATTError
@_exported public import struct PeripheralCore.AttributeHandle
@_exported public import struct PeripheralCore.AttributeSecurity
@_exported public import struct PeripheralCore.BluetoothUUID
@_exported public import struct PeripheralCore.ByteReader
@_exported public import struct PeripheralCore.ByteWriter
@_exported public import struct PeripheralCore.CharacteristicProperties
@_exported public import struct PeripheralCore.DateTime
@_exported public import struct PeripheralCore.DeviceAddress
@_exported public import struct PeripheralCore.GATTDecodingError
// What a declaration and its handlers need of the layer below, so that one import is enough.
@_exported public import protocol PeripheralCore.GATTValue
@_exported public import struct PeripheralCore.MedicalFloat
@_exported public import struct PeripheralCore.MedicalShortFloat
@_exported public import enum PeripheralCore.SecurityLevel
