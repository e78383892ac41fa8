import PeripheralBlueZModel
import PeripheralCore
import PeripheralKit
import Testing

/// What the settings of bluetoothd mean for a declaration.
@Suite(.timeLimit(.minutes(1)))
struct SettingRulesTests {
    /// Examines the settings instead of the rules of BlueZ.
    private struct SettingsProfile: StackProfile {
        let rules: SettingRules

        func examine(_ publication: BackendPublication) -> [DeclarationIssue] {
            rules.issues(affecting: publication).map { issue in
                DeclarationIssue(
                    severity: .warning,
                    element: issue.code,
                    reason: "\(issue.summary) \(issue.reason)",
                    remedy: issue.remedy ?? ""
                )
            }
        }
    }

    private static func issues(
        _ lines: String,
        _ version: BlueZVersion,
        _ pairing: Pairing = .none
    ) -> [String: String] {
        let rules = SettingRules(
            DaemonSettings(file: KeyFile(Array(lines.utf8)), version: version, usesClassic: false)
        )
        let peripheral = Peripheral("P", pairing: pairing) {
            GATTService(0x180F) { Characteristic<UInt8>(0x2A19, value: 1) }
        }
        let issues = peripheral.validate(for: SettingsProfile(rules: rules))
        return Dictionary(uniqueKeysWithValues: issues.map { ($0.element, $0.reason) })
    }

    @Test(
        arguments: [
            ("", "5.66", "every 1280 ms,"),
            ("", "5.77", nil),
            ("MinAdvertisementInterval = 160", "5.66", "every 100 to 1280 ms,"),
            ("MinAdvertisementInterval = 2048\nMaxAdvertisementInterval = 2048", "5.66", "every 1280 ms,"),
            ("MinAdvertisementInterval = 160\nMaxAdvertisementInterval = 244", "5.66", nil),
            ("MinAdvertisementInterval = 0xA0\nMaxAdvertisementInterval = 0XF4", "5.66", nil),
            // An octal number: 100 ms.
            ("MinAdvertisementInterval = 0240\nMaxAdvertisementInterval = 0364", "5.66", nil),
            ("MinAdvertisementInterval = 400\nMaxAdvertisementInterval = 400", "5.66", nil),
            ("MinAdvertisementInterval = 4000\nMaxAdvertisementInterval = 4000", "5.66", "every 2500 ms,"),
            ("MaxAdvertisementInterval = 244", "5.66", "would be 1280 to 152.5 ms. The controller refuses"),
            ("MinAdvertisementInterval = fast\nMaxAdvertisementInterval = 244x", "5.66", "every 1280 ms,"),
            (
                "MinAdvertisementInterval = fast\nMaxAdvertisementInterval = 244 ", "5.66",
                "bluetoothd ignores 'MinAdvertisementInterval = fast' and 'MaxAdvertisementInterval = 244 '."
            ),
            // Before 5.67, bluetoothd moves the value to the limit.
            ("MinAdvertisementInterval = 0\nMaxAdvertisementInterval = 0", "5.66", nil),
            ("MinAdvertisementInterval = 0\nMaxAdvertisementInterval = 0", "5.67", "every 1280 ms,"),
            (
                "MinAdvertisementInterval = 31\nMaxAdvertisementInterval = 32", "5.67",
                "would be 1280 to 20 ms."
            ),
        ] as [(String, BlueZVersion, String?)]
    )
    func advertisingInterval(lines: String, version: BlueZVersion, reason: String?) {
        let found = Self.issues("[LE]\n\(lines)", version)["setting-advertising-interval"]
        #expect(reason.map { found?.contains($0) == true } ?? (found == nil), "\(found ?? "none")")
    }

    @Test(
        arguments: [
            ("", "30 to 50 ms, which slows down phones."),
            ("MaxConnectionInterval = 40", "30 to 50 ms, which slows down phones."),
            ("MinConnectionInterval = 24\nMaxConnectionInterval = 40", "30 to 50 ms,"),
            ("MinConnectionInterval = 6\nMaxConnectionInterval = 3200", nil),
            ("MinConnectionInterval = 6", nil),
            ("MinConnectionInterval = 12\nMaxConnectionInterval = 12", nil),
            ("MinConnectionInterval = 13\nMaxConnectionInterval = 13", "interval of 16.25 ms,"),
            ("MaxConnectionInterval = 12", "30 to 15 ms. No central can accept this range."),
            ("MinConnectionInterval = 5", "bluetoothd ignores 'MinConnectionInterval = 5'."),
            ("MaxConnectionInterval = 3201", "bluetoothd ignores 'MaxConnectionInterval = 3201'."),
            ("MinConnectionInterval = ", "bluetoothd ignores 'MinConnectionInterval = '."),
        ] as [(String, String?)]
    )
    func connectionInterval(lines: String, reason: String?) {
        let found = Self.issues("[LE]\n\(lines)", "5.87")["setting-connection-interval"]
        #expect(reason.map { found?.contains($0) == true } ?? (found == nil), "\(found ?? "none")")
    }

    /// A declaration by the name of its pairing, so that the arguments are readable.
    private static let pairings: [String: Pairing] = [
        "none": .none,
        "justWorks": .justWorks,
        "justWorks(if:)": .justWorks { _ in true },
        "any": .any(of: .justWorks { _ in true }, .displayPasskey { _, _ in }),
        "displayPasskey": .displayPasskey { _, _ in },
        "confirmNumber": .confirmNumber { _, _ in true },
    ]

    @Test(
        arguments: [
            ("PairableTimeout = 60", "displayPasskey", ["setting-pairable-timeout"]),
            ("PairableTimeout = 0x3C", "displayPasskey", ["setting-pairable-timeout"]),
            ("PairableTimeout = 0", "displayPasskey", []),
            ("PairableTimeout = 60", "none", []),
            ("SecureConnections = off", "confirmNumber", ["setting-secure-connections"]),
            ("SecureConnections = on", "confirmNumber", []),
            ("SecureConnections = off", "displayPasskey", []),
            ("", "justWorks", []),
            ("", "justWorks(if:)", ["setting-repairing"]),
            ("", "any", ["setting-repairing"]),
            ("JustWorksRepairing = never", "justWorks(if:)", ["setting-repairing"]),
            ("JustWorksRepairing = confirm", "justWorks(if:)", []),
            ("JustWorksRepairing = confirm", "justWorks", ["setting-repairing"]),
            ("JustWorksRepairing = always", "justWorks(if:)", ["setting-repairing"]),
        ] as [(String, String, Set<String>)]
    )
    func pairing(line: String, pairing: String, codes: Set<String>) throws {
        let issues = Self.issues("[General]\n\(line)", .v5_87, try #require(Self.pairings[pairing]))
        let others: Set = ["setting-client", "setting-connection-interval"]
        #expect(Set(issues.keys).subtracting(others) == codes)
    }

    /// The setting does not exist before 5.67.
    @Test func secureConnectionsNeedsItsVersion() throws {
        let pairing = try #require(Self.pairings["confirmNumber"])
        let issues = Self.issues("[General]\nSecureConnections = off", .v5_66, pairing)
        #expect(issues["setting-secure-connections"] == nil)
    }

    @Test func severalNotesShareALine() {
        func issue(_ severity: SettingIssue.Severity, _ code: String) -> SettingIssue {
            SettingIssue(
                severity: severity,
                code: code,
                summary: "\(code).",
                reason: "Reason.",
                remedy: "Remedy.",
                changes: []
            )
        }
        let (warning, first, second) = (issue(.warning, "W"), issue(.note, "A"), issue(.note, "B"))
        #expect([SettingIssue]().lines.isEmpty)
        #expect([warning, first].lines.map(\.text) == ["W. Reason. Remedy.", "A. Reason. Remedy."])
        #expect(
            [warning, first, second].lines.map(\.text) == [
                "W. Reason. Remedy.", "A. Remedy. B. Remedy. peripheral-doctor prints the reasons.",
            ]
        )
        #expect([warning, first, second].lines.map(\.codes) == [["W"], ["A", "B"]])
    }
}
