import PeripheralKit
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SecurityValidationTests {
    private static func peripheral(
        pairing: Pairing,
        _ properties: CharacteristicProperties,
        _ security: AttributeSecurity,
        descriptor: AttributeSecurity? = nil
    ) -> Peripheral {
        Peripheral("P", pairing: pairing) {
            GATTService(0x180F) {
                Characteristic<UInt8>(0x2A19, properties, security: security) {
                    if properties.contains(.read) { Read { 1 } }
                    if properties.canWrite { Write { _ in } }
                    if let descriptor { Descriptor<UInt8>(0x2906, value: 1, security: descriptor) }
                }
                Characteristic<UInt8>(0x2A1A, value: 1, security: security)
            }
        }
    }

    static let refused: [(Peripheral, String, String, String)] = [
        (
            peripheral(pairing: .none, .read, .encrypted), "characteristic 2a19",
            "it demands an encrypted link, but no central may pair",
            "let centrals pair by Peripheral(…, pairing: .justWorks) or another way"
        ),
        (
            peripheral(pairing: .none, .notify, AttributeSecurity(notify: .secureConnections)),
            "characteristic 2a19",
            "it demands an authenticated link by LE Secure Connections, but no central may pair",
            "let centrals pair by Peripheral(…, pairing: .displayPasskey { … }) or another way with a person"
        ),
        (
            peripheral(pairing: .none, .read, .open, descriptor: .encrypted),
            "descriptor 2906 of characteristic 2a19",
            "it demands an encrypted link, but no central may pair",
            "let centrals pair by Peripheral(…, pairing: .justWorks) or another way"
        ),
        (
            peripheral(pairing: .none, [.read, .authenticatedSignedWrites], .open), "characteristic 2a19",
            "its writes are signed with a key that a central gets by pairing, and none may pair",
            "let centrals pair by Peripheral(…, pairing: .justWorks) or another way"
        ),
        (
            peripheral(pairing: .justWorks, [.read, .write], AttributeSecurity(write: .authenticated)),
            "characteristic 2a19",
            "it demands an authenticated link, which pairing by .justWorks never gives",
            "pair by .displayPasskey, .enterPasskey or .confirmNumber, or demand .encrypted"
        ),
    ]

    @Test(arguments: refused)
    func theFirstElementThatNobodyCanUseIsNamed(
        peripheral: Peripheral,
        element: String,
        reason: String,
        remedy: String
    ) throws {
        let issues = peripheral.validate()
        #expect(issues.count == 1)
        let issue = try #require(issues.first)
        #expect(issue.severity == .error)
        #expect(issue.element == "\(element) of service 180f")
        #expect(issue.reason == reason)
        #expect(issue.remedy == remedy)
    }

    static let sound: [Peripheral] = [
        // Security of what is not offered demands nothing; to pair without need is no fault.
        peripheral(pairing: .none, .read, AttributeSecurity(write: .authenticated, notify: .encrypted)),
        peripheral(pairing: .justWorks, .read, .open),
        peripheral(pairing: .justWorks, [.read, .write, .notify], .encrypted),
        peripheral(pairing: .displayPasskey { _, _ in }, .read, .authenticated),
        peripheral(pairing: .enterPasskey { _ in nil }, .read, .secureConnections),
        peripheral(pairing: .confirmNumber { _, _ in false }, .read, .secureConnections),
        peripheral(pairing: .system, .read, .secureConnections),
    ]

    @Test(arguments: sound)
    func whatCanBeReachedIsSound(peripheral: Peripheral) {
        #expect(peripheral.validate() == [])
    }
}
