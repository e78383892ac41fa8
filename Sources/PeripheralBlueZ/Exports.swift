// The versions of BlueZ and their rules, so that one import is enough.
@_exported public import PeripheralBlueZModel

// Where a peripheral's state is preserved.
@_exported public import struct PeripheralStorage.StateDirectory
