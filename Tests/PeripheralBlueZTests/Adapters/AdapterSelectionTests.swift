import PeripheralCore
import PeripheralKit
import Testing

@testable import PeripheralBlueZ

@Suite(.timeLimit(.minutes(1)))
struct AdapterSelectionTests {
    struct Choice: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var selection: AdapterSelection = .firstPowered
        var adapters: [AdapterDescription]
        var powersOn = false
        /// The name of the chosen one, or the beginning of the sentence.
        var outcome: String
    }

    private static let address = DeviceAddress("00:AA:01:00:00:42")

    private static func adapter(
        _ name: String,
        _ address: DeviceAddress? = nil,
        isPowered: Bool = true,
        isUsable: Bool = true
    ) -> AdapterDescription {
        AdapterDescription(
            path: "/org/bluez/\(name)",
            address: address,
            isPowered: isPowered,
            isUsable: isUsable
        )
    }

    @Test(arguments: [
        Choice(testDescription: "the only one", adapters: [adapter("hci0")], outcome: "hci0"),
        Choice(
            testDescription: "the first that is on",
            adapters: [adapter("hci0", isPowered: false), adapter("hci1"), adapter("hci2")],
            outcome: "hci1"
        ),
        Choice(
            testDescription: "the first that can",
            adapters: [adapter("hci0", isUsable: false), adapter("hci1")],
            outcome: "hci1"
        ),
        Choice(
            testDescription: "none that can",
            adapters: [adapter("hci0", isUsable: false)],
            outcome: "No Bluetooth adapter supports the Bluetooth LE peripheral role"
        ),
        Choice(
            testDescription: "none that is on",
            adapters: [adapter("hci0", isPowered: false)],
            outcome: "No Bluetooth adapter is powered on"
        ),
        Choice(
            testDescription: "the one that can be powered on",
            adapters: [
                adapter("hci0", isPowered: false, isUsable: false), adapter("hci1", isPowered: false),
            ],
            powersOn: true,
            outcome: "hci1"
        ),
        Choice(
            testDescription: "the one that is on rather than one that can be powered on",
            adapters: [adapter("hci0", isPowered: false), adapter("hci1")],
            powersOn: true,
            outcome: "hci1"
        ),
        Choice(
            testDescription: "by address, whatever its name",
            selection: address.map { .address($0) } ?? .firstPowered,
            adapters: [adapter("hci0", DeviceAddress("00:AA:01:00:00:41")), adapter("hci3", address)],
            outcome: "hci3"
        ),
        Choice(
            testDescription: "by address, not there",
            selection: address.map { .address($0) } ?? .firstPowered,
            adapters: [adapter("hci0", DeviceAddress("00:AA:01:00:00:41"))],
            outcome: "There is no Bluetooth adapter 00:AA:01:00:00:42. The available adapters are: hci0."
        ),
        Choice(
            testDescription: "by a condition",
            selection: .first { $0.name.hasSuffix("2") },
            adapters: [adapter("hci0"), adapter("hci2")],
            outcome: "hci2"
        ),
        Choice(
            testDescription: "by a condition that none meets",
            selection: .first { _ in false },
            adapters: [adapter("hci0")],
            outcome:
                "There is no Bluetooth adapter that satisfies the program's condition. The available adapters are: hci0."
        ),
        Choice(testDescription: "none", adapters: [], outcome: "bluetoothd has no Bluetooth adapter"),
        Choice(
            testDescription: "by name",
            selection: "hci1",
            adapters: [adapter("hci0"), adapter("hci1")],
            outcome: "hci1"
        ),
        Choice(
            testDescription: "by name, not there",
            selection: .named("hci2"),
            adapters: [adapter("hci0"), adapter("hci1")],
            outcome: "There is no Bluetooth adapter hci2. The available adapters are: hci0, hci1."
        ),
        Choice(
            testDescription: "by name, off",
            selection: "hci0",
            adapters: [adapter("hci0", isPowered: false), adapter("hci1")],
            outcome: "The Bluetooth adapter hci0 is powered off"
        ),
        Choice(
            testDescription: "by name, cannot",
            selection: "hci0",
            adapters: [adapter("hci0", isUsable: false), adapter("hci1")],
            outcome: "The Bluetooth adapter hci0 does not support the Bluetooth LE peripheral"
        ),
        Choice(
            testDescription: "by a part of the name",
            selection: "hci",
            adapters: [adapter("hci0")],
            outcome: "There is no Bluetooth adapter hci. The available adapters are: hci0."
        ),
    ])
    func chooses(choice: Choice) {
        switch choice.selection.choose(from: choice.adapters, powersOn: choice.powersOn) {
        case .success(let adapter):
            #expect(adapter.name == choice.outcome)
        case .failure(let failure):
            #expect(failure.code == .adapterUnavailable)
            #expect(failure.message.hasPrefix(choice.outcome), "\(failure.message)")
        }
    }
}
