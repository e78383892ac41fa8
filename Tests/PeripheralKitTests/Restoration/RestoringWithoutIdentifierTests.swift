import Testing

@testable import PeripheralKit

/// The issues of a peripheral without a restoration identifier.
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
