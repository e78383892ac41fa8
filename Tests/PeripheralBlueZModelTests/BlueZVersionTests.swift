import PeripheralBlueZModel
import PeripheralCore
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

    @Test func newerIsGreater() {
        let versions: [BlueZVersion] = [.v5_66, .v5_82, .v5_87, BlueZVersion(major: 5, minor: 100)]
        #expect(versions.shuffled().sorted() == versions)
        #expect(BlueZVersion(major: 5, minor: 100) < BlueZVersion(major: 6, minor: 0))
    }
}
