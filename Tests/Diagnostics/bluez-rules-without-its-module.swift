// import PeripheralBlueZ, or PeripheralTesting in a test. For a String, use .bluez(version:)
import PeripheralKit

func run(_ peripheral: Peripheral) async throws {
    _ = peripheral.validate(for: .bluez("5.66"))
}
