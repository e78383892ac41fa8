// import PeripheralBlueZ, or PeripheralTesting in a test, which declare it
import PeripheralKit

func run(_ peripheral: Peripheral) async throws {
    _ = peripheral.validate(for: .bluez("5.66"))
}
