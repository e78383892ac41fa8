// Exports the versions and rules of BlueZ, so one import is enough.
@_exported public import PeripheralBlueZModel

// The store for a peripheral's preserved state.
@_exported public import struct PeripheralStorage.StateDirectory
