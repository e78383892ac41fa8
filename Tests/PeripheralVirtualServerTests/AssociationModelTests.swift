import PeripheralTesting
import Testing

/// Core Specification, Vol 3, Part H, table 2.8.
@Suite(.timeLimit(.minutes(1)))
struct AssociationModelTests {
    /// For each peripheral, the models with centrals in the order of the capabilities; the second where LE
    /// Secure Connections makes a difference.
    static let table: [(PairingUser.Capability, [String])] = [
        (.noInputNoOutput, ["j", "j", "j", "j", "j"]),
        (.displayOnly, ["j", "j", "j", "p", "p"]),
        (.displayYesNo, ["j", "j", "jn", "p", "pn"]),
        (.keyboardOnly, ["j", "c", "c", "b", "c"]),
        (.keyboardDisplay, ["j", "c", "cn", "p", "cn"]),
    ]

    private static let letters: [Character: AssociationModel] = [
        "j": .justWorks, "p": .peripheralDisplaysPasskey, "c": .centralDisplaysPasskey,
        "b": .bothEnterPasskey,
        "n": .numericComparison,
    ]

    @Test(arguments: table)
    func modelFollowsFromBoth(peripheral: PairingUser.Capability, models: [String]) {
        for (central, expected) in zip(PairingUser.Capability.allCases, models) {
            let legacy = AssociationModel(central: central, peripheral: peripheral, secureConnections: false)
            let secure = AssociationModel(central: central, peripheral: peripheral, secureConnections: true)
            #expect(expected.first.map { Self.letters[$0] } == legacy, "central: \(central)")
            #expect(expected.last.map { Self.letters[$0] } == secure, "central: \(central)")
        }
    }
}
