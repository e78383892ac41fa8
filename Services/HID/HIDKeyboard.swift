public import PeripheralKit

/// A keyboard with a report map and support for the boot protocol.
///
/// The keyboard declares a ``HIDService``. Hosts that do not read the report map use the boot protocol. The
/// keyboard implements the HID Service specification 1.0 and the HID over GATT profile 1.0.
///
/// ```swift
/// import PeripheralBattery
/// import PeripheralBlueZ
/// import PeripheralDeviceInformation
/// import PeripheralHID
/// import PeripheralKit
/// let keyboard = HIDKeyboard()
/// let peripheral = Peripheral("Keyboard", pairing: .justWorks) {
///     keyboard
///     BatteryService(level: BatteryLevel(100))
///     DeviceInformationService(pnpID: PnPID(vendor: .usb(0x1234), product: 1, version: 0x0100))
///     Advertisement(appearance: 0x03C1)
/// }
/// try await peripheral.run(on: .bluez) { session in
///     for await line in lines { try await keyboard.type(line, in: session) }
/// }
/// ```
public struct HIDKeyboard: GATTServiceDeclaration {
    /// The HID service of the keyboard.
    public let hid: HIDService

    // Computed, because copying a value with several stored properties adds kilobytes of code.

    /// The input report, which contains the pressed keys.
    public var keys: HIDReport { hid.reports[0] }

    /// The output report, which specifies the keyboard LEDs that are on.
    public var leds: HIDReport { hid.reports[1] }

    /// Declares a keyboard.
    ///
    /// - Parameters:
    ///   - information: The HID properties of the keyboard.
    ///   - security: The security required to use the keyboard. The HID over GATT profile requires at least
    ///     encryption.
    ///   - onLEDs: Handles the LED state that a host sends. The set contains the LEDs that must be on. All
    ///     LEDs outside of the set must be off.
    ///   - onCommand: Handles the command that a host sends when the host suspends or resumes.
    public init(
        information: HIDInformation = HIDInformation(),
        security: AttributeSecurity = .encrypted,
        onLEDs: @escaping @Sendable (_ leds: KeyboardLEDs, _ host: Central) async -> Void = { _, _ in },
        onCommand: @escaping @Sendable (_ command: HIDCommand, _ host: Central) async -> Void = { _, _ in }
    ) {
        let last = LastReport(length: 8)
        let shown = LastReport(length: 1)
        let keys = HIDReport.input(id: 1, length: 8, security: security)
        let leds = HIDReport.output(id: 1, length: 1, last: shown, security: security) { bytes, host in
            await onLEDs(try KeyboardLEDs(gattBytes: bytes), host)
        }
        let boot = BootKeyboard(
            last: last,
            input: Characteristic(
                .bootKeyboardInputReport,
                [.read, .notify],
                security: security,
                length: .exactly(8)
            ) {
                Read { last.bytes }
            },
            output: Characteristic(
                .bootKeyboardOutputReport,
                [.read, .write, .writeWithoutResponse],
                security: security
            ) {
                Read { try KeyboardLEDs(gattBytes: shown.bytes) }
                Write { leds, host in
                    await onLEDs(leds, host)
                    shown.bytes = leds.gattBytes
                }
            }
        )
        hid = HIDService(
            reportMap: Self.reportMap,
            reports: [keys, leds],
            boot: boot,
            information: information,
            security: security,
            onCommand: onCommand
        )
    }

    /// Sends the pressed keys to all subscribed hosts.
    ///
    /// Each host receives the pressed keys through the protocol that the host has selected.
    ///
    /// - Parameters:
    ///   - report: All keys that are currently pressed.
    ///   - session: The session of a peripheral. The peripheral must declare the keyboard.
    /// - Throws: The errors that `session.notify` throws.
    @inline(never)
    public func send(_ report: KeyboardReport, in session: PeripheralSession) async throws {
        let bytes = report.gattBytes
        hid.boot?.last.bytes = bytes
        guard let boot = hid.boot, boot.modes.hasBoot else { return try await keys.send(bytes, in: session) }
        try keys.keep(bytes, in: session)
        try await send(bytes, over: keys.value, in: session, to: boot.modes, areBoot: false)
        try await send(bytes, over: boot.input, in: session, to: boot.modes, areBoot: true)
    }

    /// Reports to the hosts that no key is down, without waiting.
    func releaseAll(in session: PeripheralSession) {
        let bytes = KeyboardReport().gattBytes
        hid.boot?.last.bytes = bytes
        _ = try? keys.keep(bytes, in: session)
        _ = try? session.update(keys.value, bytes)
        if let boot = hid.boot, boot.modes.hasBoot { _ = try? session.update(boot.input, bytes) }
    }

    /// Sends a report to the hosts of one protocol.
    ///
    /// Hosts that the Bluetooth stack cannot address separately also receive the report.
    private func send(
        _ bytes: [UInt8],
        over characteristic: Characteristic<[UInt8]>,
        in session: PeripheralSession,
        to modes: ProtocolModes,
        areBoot: Bool
    ) async throws {
        for subscription in try session.subscribers(of: characteristic) {
            guard let host = subscription.central else {
                return try await session.notify(characteristic, bytes)
            }
            guard modes.isBoot(host.id) == areBoot else { continue }
            do {
                try await session.notify(characteristic, bytes, to: host)
            } catch let error as PeripheralError where error.code == .notAddressable {
                return try await session.notify(characteristic, bytes)
            } catch let error as PeripheralError
                where error.code == .notSubscribed || error.code == .insufficientSecurity
            {
                continue
            }
        }
    }

    /// Resets the protocol of a host to the report protocol after the host disconnects.
    ///
    /// When the host connects again, the keyboard uses the report protocol. HID Service 1.0, section 2.4,
    /// requires the report protocol at the start of each connection. A running peripheral calls the
    /// `run(in:)` method of each service.
    ///
    /// For example, the firmware of a computer can select the boot protocol and disconnect. The operating
    /// system of the computer then connects, but does not select a protocol. The operating system expects the
    /// report protocol at the start of the connection.
    ///
    /// - Parameter session: The session of a peripheral. The peripheral must declare the keyboard.
    public func run(in session: PeripheralSession) async {
        for await event in session.events {
            if case .disconnected(let host, _) = event { hid.boot?.modes.set(.report, of: host.id) }
        }
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService { hid.service }

    /// A keyboard with eight modifiers, five LEDs, and up to six keys at a time.
    ///
    /// The report map is that of the boot keyboard of USB HID 1.11, appendix E.6, with a report number and
    /// all keys.
    private static let reportMap: [UInt8] = [
        0x05, 0x01,  // Usage Page (Generic Desktop)
        0x09, 0x06,  // Usage (Keyboard)
        0xA1, 0x01,  // Collection (Application)
        0x85, 0x01,  //   Report ID (1)
        0x05, 0x07,  //   Usage Page (Keyboard)
        0x19, 0xE0,  //   Usage Minimum (Left Control)
        0x29, 0xE7,  //   Usage Maximum (Right GUI)
        0x15, 0x00,  //   Logical Minimum (0)
        0x25, 0x01,  //   Logical Maximum (1)
        0x75, 0x01,  //   Report Size (1)
        0x95, 0x08,  //   Report Count (8)
        0x81, 0x02,  //   Input (Data, Variable, Absolute): modifiers
        0x75, 0x08,  //   Report Size (8)
        0x95, 0x01,  //   Report Count (1)
        0x81, 0x01,  //   Input (Constant): reserved
        0x05, 0x08,  //   Usage Page (LEDs)
        0x19, 0x01,  //   Usage Minimum (Num Lock)
        0x29, 0x05,  //   Usage Maximum (Kana)
        0x75, 0x01,  //   Report Size (1)
        0x95, 0x05,  //   Report Count (5)
        0x91, 0x02,  //   Output (Data, Variable, Absolute): LEDs
        0x75, 0x03,  //   Report Size (3)
        0x95, 0x01,  //   Report Count (1)
        0x91, 0x01,  //   Output (Constant): up to a byte
        0x05, 0x07,  //   Usage Page (Keyboard)
        0x19, 0x00,  //   Usage Minimum (none)
        0x2A, 0xFF, 0x00,  //   Usage Maximum (255)
        0x26, 0xFF, 0x00,  //   Logical Maximum (255)
        0x75, 0x08,  //   Report Size (8)
        0x95, 0x06,  //   Report Count (6)
        0x81, 0x00,  //   Input (Data, Array): keys
        0xC0,  // End Collection
    ]
}
