import PeripheralCore
import Testing

@Suite(.timeLimit(.minutes(1)))
struct CharacteristicPropertiesTests {
    @Test(
        arguments: [
            ([], 0x00, 0, "[]"),
            (.broadcast, 0x01, 0, "[broadcast]"),
            (.read, 0x02, 0, "[read]"),
            (.writeWithoutResponse, 0x04, 0, "[writeWithoutResponse]"),
            (.write, 0x08, 0, "[write]"),
            (.notify, 0x10, 0, "[notify]"),
            (.indicate, 0x20, 0, "[indicate]"),
            (.authenticatedSignedWrites, 0x40, 0, "[authenticatedSignedWrites]"),
            (.reliableWrite, 0x80, 1, "[reliableWrite]"),
            (.writableAuxiliaries, 0x80, 2, "[writableAuxiliaries]"),
            ([.notify, .read], 0x12, 0, "[read, notify]"),
            (
                [.write, .reliableWrite, .writableAuxiliaries], 0x88, 3,
                "[write, reliableWrite, writableAuxiliaries]"
            ),
        ] as [(CharacteristicProperties, UInt8, UInt16, String)]
    )
    func bitsAreThoseOfTheDeclaration(
        properties: CharacteristicProperties,
        declaration: UInt8,
        extended: UInt16,
        text: String
    ) {
        #expect(properties.declarationByte == declaration)
        #expect(properties.extended == extended)
        #expect(properties.hasExtendedProperties == (extended != 0))
        #expect(properties.description == text)
        #expect(CharacteristicProperties(declaration: declaration, extended: extended) == properties)
    }

    @Test func bitsWithoutAnOptionAreDropped() {
        #expect(CharacteristicProperties(rawValue: 0xFFFF).rawValue == 0x037F)
        #expect(CharacteristicProperties(declaration: 0x82) == .read)
        #expect(
            CharacteristicProperties(declaration: 0x82, extended: 0xFFFE) == [.read, .writableAuxiliaries]
        )
    }

    @Test(
        arguments: [
            (.notify, true, false), (.indicate, true, false), (.read, false, false),
            (.broadcast, false, false),
            (.write, false, true), (.writeWithoutResponse, false, true),
            (.authenticatedSignedWrites, false, true),
            (.reliableWrite, false, true), (.writableAuxiliaries, false, false),
        ] as [(CharacteristicProperties, Bool, Bool)]
    )
    func someSubscribeAndSomeWrite(properties: CharacteristicProperties, subscribes: Bool, writes: Bool) {
        #expect(properties.allowsSubscription == subscribes)
        #expect(properties.canWrite == writes)
    }
}
