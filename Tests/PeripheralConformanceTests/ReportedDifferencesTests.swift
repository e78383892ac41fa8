import PeripheralBlueZModel
import PeripheralConformance
import PeripheralKit
import Testing

/// Whether the validation of a declaration reports each known difference.
@Suite(.timeLimit(.minutes(1)))
struct ReportedDifferencesTests {
    private enum Report {
        /// A declaration with an issue on exactly the versions of the difference, and a part of the issue.
        case rule(Peripheral, String)
        /// The reason why a declaration cannot show whether it meets the difference.
        case none(String)
    }

    private static func peripheral(
        _ properties: CharacteristicProperties,
        security: AttributeSecurity = .open,
        length: ValueLength = .any
    ) -> Peripheral {
        Peripheral("P", pairing: .justWorks) {
            GATTService(0x180F, handle: 0x0100) {
                Characteristic<[UInt8]>(0x2A19, properties, security: security, length: length) {
                    if properties.canWrite { Write { _ in } }
                }
            }
        }
    }

    private static let longValue = Report.rule(
        peripheral(.write, length: .within(1...512)),
        "refuses written values of 511 and 512 bytes"
    )
    private static let call = Report.none("Only a call of the program chooses the central of an update.")
    private static let error = Report.none("Only a handler chooses its error.")
    private static let subscription = Report.none(
        "Each characteristic with updates meets it, and only while several centrals are subscribed."
    )
    private static let handler = Report.none(
        "Each characteristic with a handler meets it on each version. The remedy is a fast answer."
    )
    private static let kill = Report.none("Only a program that is killed meets it, with any declaration.")

    /// The reports by the names of the scenarios.
    private static let reports: [String: Report] = [
        "a written value of 511 bytes arrives": longValue,
        "a written value of 512 bytes arrives": longValue,
        "the parts of a long write of 512 bytes arrive as one value": longValue,
        """
        a handler refuses a read with the ATT error 'client characteristic configuration improperly \
        configured (0xfd)'
        """: error,
        """
        a handler refuses a write with the ATT error 'client characteristic configuration improperly \
        configured (0xfd)'
        """: error,
        "a control point refuses the request of a central that cannot get the response": .rule(
            peripheral([.write, .indicate], security: .encrypted),
            "'unlikely error'"
        ),
        "a central writes a value that cannot be decoded, and receives the ATT error 'value not allowed'":
            .none("Each characteristic whose value can be invalid meets it, and only the error differs."),
        """
        an update for one of 2 centrals reaches only this central, and each central receives its updates in \
        the order of sending
        """: call,
        """
        an update for one of 4 centrals reaches only this central, and each central receives its updates in \
        the order of sending
        """: call,
        "a document that is sent by notifications to 2 of 3 centrals reaches only these 2 centrals": call,
        "each of four centrals receives the 50 updates for this central, and no other updates": call,
        "a central that has subscribed again receives an update that is sent only to this central": call,
        """
        while a reconnected subscriber has not encrypted its link, other subscribers receive updates that \
        require security
        """: .rule(peripheral(.notify, security: .encrypted), "no subscriber receives a value"),
        "the end of a subscription is reported while other centrals are subscribed": subscription,
        """
        an indication for one central reaches only this central, and the call waits only for the \
        confirmation by this central
        """: call,
        "a document that is sent by indications to 2 of 3 centrals reaches only these 2 centrals": call,
        "a control point carries out the requests of several centrals": .rule(
            peripheral([.write, .indicate], security: .encrypted),
            "a response for one central reaches all of them"
        ),
        "the end of a resumed subscription is reported while another central is subscribed": subscription,
        """
        after another central has disconnected, the first subscriber unsubscribes, and the end of its \
        subscription is reported
        """: subscription,
        "a central that disconnects during its read does not affect other centrals": handler,
        "a central that disconnects during its write does not affect other centrals": handler,
        """
        a subscriber that unsubscribes before it confirms its own indication does not affect other \
        subscribers
        """: .rule(peripheral(.indicate), "unsubscribes before it confirms an indication"),
        "a confirmation that arrives after the services are withdrawn does not affect other programs": kill,
        "an advertisement is fast, slows down, and is fast again after a change and after a disconnection":
            .rule(
                Peripheral("P") {
                    GATTService(0x180F, handle: 0x0100) { Characteristic<UInt8>(0x2A19, value: 1) }
                    Advertisement(slowing: .after(.seconds(30)))
                },
                "ignores it"
            ),
        "a program that is killed while a central writes does not affect other programs": kill,
        "a central that subscribes and immediately unsubscribes is not a subscriber": subscription,
    ]

    /// The known differences and the crashes, as in the article "Limits of BlueZ by version".
    private static let differences =
        ConformanceSuite.knownDifferences + [KnownDifference.killedProgram, .hastySubscriber]

    private static let versions: [BlueZVersion] = [
        "5.66", "5.68", "5.69", "5.73", "5.76", "5.77", "5.79", "5.80", "5.82", "5.87",
    ]

    @Test(arguments: differences)
    func aRuleOrAReasonExists(difference: KnownDifference) throws {
        switch try #require(Self.reports[difference.scenario], "\(difference.scenario)") {
        case .rule(let peripheral, let reason):
            for version in Self.versions {
                let issues = peripheral.validate(for: .bluez(version))
                #expect(
                    issues.contains { $0.reason.contains(reason) } == difference.versions.contains(version),
                    "\(version): \(issues)"
                )
            }
        case .none(let reason):
            #expect(!reason.isEmpty)
        }
    }

    @Test func eachReportBelongsToADifference() {
        #expect(Set(Self.reports.keys) == Set(Self.differences.map(\.scenario)))
    }
}
