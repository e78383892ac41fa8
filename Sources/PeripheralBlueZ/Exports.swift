// A program on BlueZ needs one import.

// The versions and rules of BlueZ.
@_exported public import PeripheralBlueZModel
// The declaration of the peripheral.
@_exported public import PeripheralKit

// The store for a peripheral's preserved state.
@_exported public import struct PeripheralStorage.StateDirectory
