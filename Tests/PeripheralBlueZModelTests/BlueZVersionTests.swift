import PeripheralBlueZModel
import PeripheralCore
import PeripheralKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct BlueZVersionTests {
    @Test(arguments: ["5.66", "5.87", "5.100", "6.0"])
    func isReadAsItIsWritten(text: String) {
        #expect(BlueZVersion(text)?.description == text)
    }

    @Test(arguments: [
        "", "5", "5.", ".66", "5.66.1", "5.x", "+5.66", "5.-1", "5.66 ", "5.99999999999999999999",
    ])
    func anythingElseIsNoVersion(text: String) {
        #expect(BlueZVersion(text) == nil)
    }

    @Test func aLiteralIsAVersion() {
        #expect(("5.66" as BlueZVersion) == .v5_66)
    }

    @Test(arguments: ["5,66", "abc", ""] as [BlueZVersion])
    func aMalformedLiteralIsNoVersion(version: BlueZVersion) {
        #expect(version != BlueZVersion(major: 0, minor: 0))
        #expect(version < .v5_66)
        #expect(version.description.hasSuffix("\" (not a version)"))
        #expect(BlueZVersionError(version)?.description.hasSuffix("as in 5.66.") == true)
    }

    @Test(arguments: ["5.66", "5.70", "5.87"])
    func knownVersionsCanBeImitated(text: String) throws {
        #expect(try BlueZVersion(imitated: text).description == text)
    }

    /// The error names the known versions.
    @Test(arguments: ["5.65", "5.88", "5.99", "6.0"])
    func otherVersionsCannotBeImitated(text: String) throws {
        let error = try #require(throws: BlueZVersionError.self) { try BlueZVersion(imitated: text) }
        #expect(error.text == text)
        #expect(
            error.description == "BlueZ \(text) cannot be imitated. Use a version from 5.66 to 5.87."
        )
    }

    @Test func aTextThatIsNoVersionCannotBeImitated() throws {
        let error = try #require(throws: BlueZVersionError.self) { try BlueZVersion(imitated: "5,66") }
        #expect(
            error.description
                == "\"5,66\" is not a version of BlueZ. Write two numbers separated by a point, as in 5.66."
        )
    }

    @Test func newerIsGreater() {
        let versions: [BlueZVersion] = [.v5_66, .v5_82, .v5_87, BlueZVersion(major: 5, minor: 100)]
        #expect(versions.shuffled().sorted() == versions)
        #expect(BlueZVersion(major: 5, minor: 100) < BlueZVersion(major: 6, minor: 0))
    }

    /// As where it is an argument of a program.
    @Test func aTextThatIsNoVersionIsRefused() throws {
        let level = Characteristic<UInt8>(0x2A19, value: 1)
        let peripheral = Peripheral("Lamp") { GATTService(0x180F) { level } }
        for text in ["5.66", "5.87"] {
            #expect(try peripheral.validate(for: .bluez(version: text)).isEmpty)
        }
        let error = #expect(throws: BlueZVersionError.self) {
            try peripheral.validate(for: .bluez(version: "bluetoothd 5.66"))
        }
        #expect(error?.description.hasPrefix("\"bluetoothd 5.66\" is not a version of BlueZ.") == true)
    }
}
