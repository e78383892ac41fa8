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

    private static let justWorks = "let centrals pair with Peripheral(…, pairing: .justWorks) or another way"
    private static let person =
        "let centrals pair with Peripheral(…, pairing: .displayPasskey { … }) or another way that involves a person"
    private static let unsigned =
        "its writes are signed with a key from pairing, but no central can pair"

    /// Each with the elements that are named with their reasons, and the remedy that all have.
    static let refused: [(Peripheral, [String], String)] = [
        (
            peripheral(pairing: .none, .read, .encrypted),
            [
                "characteristic 2a19: it requires an encrypted link, but no central can pair",
                "characteristic 2a1a: it requires an encrypted link, but no central can pair",
            ],
            justWorks
        ),
        (
            peripheral(pairing: .none, .notify, AttributeSecurity(notify: .secureConnections)),
            [
                "characteristic 2a19: it requires an authenticated link with LE Secure Connections, "
                    + "but no central can pair"
            ],
            person
        ),
        (
            peripheral(pairing: .none, .read, .open, descriptor: .encrypted),
            [
                "descriptor 2906 of characteristic 2a19: it requires an encrypted link, but no central can pair"
            ],
            justWorks
        ),
        (
            peripheral(pairing: .none, .read, .encrypted, descriptor: .authenticated),
            [
                "characteristic 2a19: it requires an encrypted link, but no central can pair",
                "descriptor 2906 of characteristic 2a19: it requires an authenticated link, but no central can pair",
                "characteristic 2a1a: it requires an encrypted link, but no central can pair",
            ],
            person
        ),
        (
            peripheral(pairing: .none, [.read, .authenticatedSignedWrites], .open),
            ["characteristic 2a19: \(unsigned)"],
            justWorks
        ),
        (
            peripheral(
                pairing: .none,
                [.read, .authenticatedSignedWrites],
                .open,
                descriptor: .authenticated
            ),
            [
                "characteristic 2a19: \(unsigned)",
                "descriptor 2906 of characteristic 2a19: it requires an authenticated link, but no central can pair",
            ],
            person
        ),
        (
            peripheral(pairing: .justWorks, [.read, .write], .authenticated, descriptor: .secureConnections),
            [
                "characteristic 2a19: it requires an authenticated link, which pairing with .justWorks does not provide",
                "descriptor 2906 of characteristic 2a19: it requires an authenticated link with LE Secure Connections, "
                    + "which pairing with .justWorks does not provide",
                "characteristic 2a1a: it requires an authenticated link, which pairing with .justWorks does not provide",
            ],
            "pair with .displayPasskey, .enterPasskey or .confirmNumber, or require only .encrypted"
        ),
    ]

    @Test(arguments: refused)
    func allThatNobodyCanUseIsNamedWithOneRemedy(
        peripheral: Peripheral,
        named: [String],
        remedy: String
    ) throws {
        let issues = peripheral.validate()
        #expect(issues.allSatisfy { $0.severity == .error && $0.remedy == remedy })
        #expect(issues.allSatisfy { $0.element.hasSuffix(" of service 180f") })
        #expect(
            issues.map { "\($0.element.dropLast(" of service 180f".count)): \($0.reason)" } == named
        )
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
        peripheral(
            pairing: .any(of: .justWorks, .displayPasskey { _, _ in }),
            .read,
            .authenticated,
            descriptor: .encrypted
        ),
    ]

    @Test(arguments: sound)
    func whatCanBeReachedIsSound(peripheral: Peripheral) {
        #expect(peripheral.validate() == [])
    }
}
