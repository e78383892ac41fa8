import Testing

@testable import PeripheralKit

/// Which pairing methods can be declared together, and what a backend makes of them.
@Suite(.timeLimit(.minutes(1)))
struct PairingValidationTests {
    private static let display = Pairing.displayPasskey { _, _ in }
    private static let enter = Pairing.enterPasskey { _ in nil }
    private static let confirm = Pairing.confirmNumber { _, _ in false }
    private static let replacing = Pairing.justWorks(if: { _ in true })

    private static func peripheral(_ pairing: Pairing) -> Peripheral {
        Peripheral("P", pairing: pairing) {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
    }

    static let sound: [(Pairing, PairingMethod)] = [
        (.none, .none),
        (.system, .system),
        (.justWorks, .justWorks),
        (display, .displayPasskey),
        (enter, .enterPasskey),
        (confirm, .confirmNumber),
        (.any(of: display, confirm), .displayPasskeyOrConfirmNumber),
        (.any(of: confirm, display), .displayPasskeyOrConfirmNumber),
        (.any(of: enter, confirm, display), .enterOrDisplayPasskeyOrConfirmNumber),
        (.any(of: .any(of: enter, confirm), display), .enterOrDisplayPasskeyOrConfirmNumber),
        (.any(of: .justWorks, display), .displayPasskey),
        (.any(of: enter, .justWorks), .enterPasskey),
        (.any(of: confirm, replacing), .confirmNumber),
        (.any(of: confirm, .justWorks, display), .displayPasskeyOrConfirmNumber),
        (.any(of: .justWorks, enter, confirm, display), .enterOrDisplayPasskeyOrConfirmNumber),
        (display.onlyWhenAllowed().limitingBonds(to: 1), .displayPasskey),
    ]

    @Test(arguments: sound)
    func soundListHasTheMethodOfItsCapabilities(pairing: Pairing, method: PairingMethod) {
        #expect(Self.peripheral(pairing).validate() == [])
        #expect(pairing.method == method)
    }

    /// A limit within a list applies to the whole list, and the strictest one counts.
    @Test func thePoliciesOfAListAreCombined() {
        let list = Pairing.any(
            of: Self.display.limitingBonds(to: 3, replacingOldest: true),
            Self.confirm.onlyWhenAllowed(disconnectingUnbonded: true).limitingBonds(to: 2)
        )
        #expect(
            list.policy
                == PairingPolicy(
                    needsWindow: true,
                    disconnectsUnbonded: true,
                    maximumBonds: 2,
                    replacesOldest: true
                )
        )
    }

    private static let numberIsMissing =
        "a device with a keyboard and a display compares numbers with most centrals, but .confirmNumber is missing: "
        + "add .confirmNumber { … }, or leave out .enterPasskey or .displayPasskey"
    private static let passkeyIsMissing =
        "a device with a keyboard and a display shows passkeys to some centrals, but .displayPasskey is missing: "
        + "add .displayPasskey { … }, or leave out .enterPasskey"
    private static let hasNone =
        "its list contains .none, with which no central can pair: leave out .none"
    private static let hasSystem =
        "its list contains .system, with which the operating system decides alone: "
        + "leave out .system, or declare only .system"

    private static func isRepeated(_ name: String) -> String {
        "its list contains \(name) more than once: declare each method once"
    }

    static let refused: [(Pairing, [String])] = [
        (.none.onlyWhenAllowed(), ["no central can pair with .none at any time: declare .none alone"]),
        (
            .system.limitingBonds(to: 2),
            [
                "the operating system decides with .system who can pair and when: "
                    + "declare another method, or .system alone"
            ]
        ),
        (
            .justWorks.limitingBonds(to: 0),
            [
                "it limits the number of bonds to 0: "
                    + "use a limit of at least 1, or .none, with which no central can pair"
            ]
        ),
        (.any(of: enter, display), [numberIsMissing]),
        (.any(of: enter, display, .justWorks), [numberIsMissing]),
        (.any(of: confirm, enter), [passkeyIsMissing]),
        (.any(of: .none, display), [hasNone]),
        (.any(of: .none, .none), [hasNone]),
        (.any(of: confirm, .system), [hasSystem]),
        (.any(of: display, display), [isRepeated(".displayPasskey")]),
        (.any(of: enter, enter, enter), [isRepeated(".enterPasskey")]),
        (.any(of: confirm, display, confirm), [isRepeated(".confirmNumber")]),
        (.any(of: .justWorks, replacing), [isRepeated(".justWorks")]),
        (
            .any(of: .system, .none, enter, .any(of: enter, display)),
            [hasNone, hasSystem, isRepeated(".enterPasskey"), numberIsMissing]
        ),
    ]

    @Test(arguments: refused)
    func listWithoutADefiniteMeaningIsRefused(pairing: Pairing, issues: [String]) {
        let found = Self.peripheral(pairing).validate()
        #expect(found.allSatisfy { $0.severity == .error && $0.element == "pairing of the peripheral" })
        #expect(found.map { "\($0.reason): \($0.remedy)" } == issues)
    }
}
