// What names the version whose rules are asked for, so that one import is enough.
@_exported public import struct PeripheralCore.BlueZVersion
// Where a peripheral's state is preserved.
@_exported public import struct PeripheralStorage.StateDirectory
