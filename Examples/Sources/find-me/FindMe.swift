import ArgumentParser
import ExampleSupport
import PeripheralImmediateAlert
import PeripheralKit
import PeripheralLinkLoss
import PeripheralTesting
import PeripheralTxPower

/// Keys that sound when a phone looks for them, and when they lose it.
///
/// This file has the command line, the declaration and the run.
@main
struct FindMe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "find-me",
        abstract: "Act as keys that sound when a phone looks for them, and when they lose it.",
        discussion: """
            The services of the Proximity profile: Link Loss, Immediate Alert and Tx Power. The terminal's bell stands for \
            the buzzer.
            """
    )

    @Option(help: "The name under which centrals find the keys.")
    var name = "Keys"

    @OptionGroup
    var options: RunOptions

    func run() async throws {
        let keys = Keys(name: name)
        try await options.run(keys.peripheral) { central in
            try await keys.walk(with: central)
        }
    }
}

/// The declaration.
struct Keys {
    let buzzer = Buzzer()
    let immediateAlert: ImmediateAlertService
    let linkLoss: LinkLossService
    let txPower = TxPowerService(TxPowerLevel(dBm: 0), security: .encrypted)
    let peripheral: Peripheral

    init(name: String) {
        // A phone can look for the keys without pairing.
        immediateAlert = ImmediateAlertService { [buzzer] level in
            buzzer.sound(level, since: level == .none ? "a phone has found them" : "a phone looks for them")
        }
        // The Proximity profile requires encryption. Only a bonded phone keeps its level after it returns.
        linkLoss = LinkLossService(security: .encrypted) { [buzzer] level, _ in
            buzzer.sound(level, since: level == .none ? "the phone is back" : "the connection is lost")
        }
        peripheral = Peripheral(name, pairing: .justWorks) { [immediateAlert, linkLoss, txPower] in
            linkLoss
            immediateAlert
            txPower
            Advertisement(appearance: 0x0240)  // keyring
        }
    }

    /// Acts as a phone that looks for the keys, loses them, and returns.
    func walk(with phone: VirtualCentral) async throws {
        try await phone.connect()
        try await phone.pair(.justWorks)
        Terminal.print("phone: the keys transmit at \(try await phone.read(txPower.level)).")
        Terminal.print("phone: where are the keys?")
        try await phone.writeWithoutResponse(immediateAlert.alertLevel, .high)
        await buzzer.wait(for: .high)
        Terminal.print("phone: found.")
        try await phone.writeWithoutResponse(immediateAlert.alertLevel, .none)
        await buzzer.wait(for: .none)
        try await phone.write(linkLoss.alertLevel, .mild)
        Terminal.print("phone: goes out of range.")
        phone.disconnect()
        await buzzer.wait(for: .mild)
        Terminal.print("phone: is back in range.")
        try await phone.connect()
        await buzzer.wait(for: .none)
        try await phone.write(linkLoss.alertLevel, .none)
        Terminal.print("phone: turns off the alert and disconnects.")
    }
}
