import Testing

@testable import PeripheralKit

/// What a peripheral without a restoration identifier is told.
struct RestoringWithoutIdentifierTests {
    @Test func aHandlerThatIsNeverCalledIsReported() {
        let lamp = Peripheral("Lamp") {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
        } onRestore: { _ in
        }
        #expect(
            lamp.validate().map(\.message) == [
                "peripheral: onRestore is never called without a restoration identifier; "
                    + "declare the restorationIdentifier of the Peripheral"
            ]
        )
    }
}
