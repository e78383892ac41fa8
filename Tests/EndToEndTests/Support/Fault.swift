import PeripheralBlueZ
import PeripheralEmulator
import PeripheralKit
import Testing

/// Something that goes wrong below a peripheral, and is mended.
struct Fault: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// What the radio is like meanwhile.
    var radio: PeripheralState.Radio
    /// The end of the reason why the peripheral is off the air.
    var remedy: String
    /// Whether nothing announces that it is mended, so that it is tried again and again.
    var isSilent = false
    var happen: @Sendable (EmulatedBlueZ) async throws -> Void
    var mend: @Sendable (EmulatedBlueZ) async throws -> Void

    private static let start = "Run 'systemctl start bluetooth'."
    private static let plugIn = "Plug one in, or run 'bluetoothctl list' and 'rfkill'."
    private static let switchOn =
        "use 'bluetoothctl power on', or 'rfkill unblock bluetooth' if it is blocked."

    static let all = onOneBus + [busKilled]

    /// What others notice who share the bus, and outlast.
    static let onOneBus = [
        Fault(testDescription: "bluetoothd is killed", radio: .resetting, remedy: start) {
            await $0.killDaemon()
        } mend: {
            try await $0.startDaemon()
        },
        Fault(testDescription: "bluetoothd is stopped", radio: .resetting, remedy: start) {
            await $0.stopDaemon()
        } mend: {
            try await $0.startDaemon()
        },
        Fault(
            testDescription: "the policy of the bus forbids to call bluetoothd",
            radio: .unauthorized,
            remedy: "add the user to the group 'bluetooth' ('usermod -aG bluetooth NAME') and log in again, "
                + "or allow it in D-Bus's policy (bluetooth.conf).",
            isSilent: true
        ) {
            await $0.killDaemon()
            try await $0.setPermitted(false)
            try await $0.startDaemon()
        } mend: {
            try await $0.setPermitted(true)
        },
        Fault(testDescription: "the adapter is unplugged", radio: .unsupported, remedy: plugIn) {
            await $0.removeAdapter("hci0")
        } mend: {
            try await $0.addAdapter("hci0")
        },
        Fault(
            testDescription: "bluetoothd is there before its adapter",
            radio: .unsupported,
            remedy: plugIn
        ) {
            await $0.killDaemon()
            await $0.removeAdapter("hci0")
            try await $0.startDaemon()
        } mend: {
            try await $0.addAdapter("hci0")
        },
        Fault(testDescription: "the adapter is powered off", radio: .poweredOff, remedy: switchOn) {
            await $0.setPowered(false)
        } mend: {
            await $0.setPowered(true)
        },
        Fault(testDescription: "the adapter is blocked", radio: .poweredOff, remedy: switchOn) {
            await $0.setBlocked(true)
        } mend: {
            await $0.setBlocked(false)
        },
    ]

    /// Those in which one thing goes wrong.
    static let single = onOneBus.filter { fault in
        ["is killed", "is stopped", "is unplugged", "is powered off", "is blocked"].contains {
            fault.testDescription.hasSuffix($0)
        }
    }

    private static let busKilled = Fault(
        testDescription: "the bus is killed",
        radio: .resetting,
        remedy: ". Start D-Bus.",
        isSilent: true
    ) {
        await $0.killBus()
    } mend: {
        try await $0.startBus()
        try await $0.startDaemon()
    }
}
