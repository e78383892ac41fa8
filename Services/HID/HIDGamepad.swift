public import PeripheralKit

/// A gamepad with 16 buttons, a directional pad, two sticks and two triggers.
///
/// The gamepad declares a ``HIDService`` with a report map for gamepads. The gamepad implements the HID
/// Service specification 1.0 and the HID over GATT profile 1.0.
///
/// ```swift
/// import PeripheralBattery
/// import PeripheralBlueZ
/// import PeripheralDeviceInformation
/// import PeripheralHID
/// import PeripheralKit
/// let gamepad = HIDGamepad()
/// let peripheral = Peripheral("Gamepad", pairing: .justWorks) {
///     gamepad
///     BatteryService(level: BatteryLevel(100))
///     DeviceInformationService(pnpID: PnPID(vendor: .usb(0x1234), product: 2, version: 0x0100))
///     Advertisement(appearance: 0x03C4)
/// }
/// try await peripheral.run(on: .bluez) { session in
///     for await state in pad.states { try await gamepad.send(.init(buttons: state.buttons), in: session) }
/// }
/// ```
public struct HIDGamepad: GATTServiceDeclaration {
    /// The HID service of the gamepad.
    public let hid: HIDService

    /// The input report for the buttons, the directional pad, the sticks and the triggers.
    public var report: HIDReport { hid.reports[0] }

    /// Declares a gamepad.
    ///
    /// - Parameters:
    ///   - information: The HID properties of the gamepad.
    ///   - security: The security required to use the gamepad. The HID over GATT profile requires at least
    ///     encryption.
    ///   - onCommand: Handles the command that a host sends when the host suspends or resumes.
    public init(
        information: HIDInformation = HIDInformation(),
        security: AttributeSecurity = .encrypted,
        onCommand: @escaping @Sendable (_ command: HIDCommand, _ host: Central) async -> Void = { _, _ in }
    ) {
        hid = HIDService(
            reportMap: Self.reportMap,
            reports: [.input(id: 1, length: 9, security: security)],
            information: information,
            security: security,
            onCommand: onCommand
        )
    }

    /// Sends the state of the gamepad to all subscribed hosts.
    ///
    /// - Parameters:
    ///   - state: The state of all buttons, sticks and triggers.
    ///   - session: The session of a peripheral. The peripheral must declare the gamepad.
    /// - Throws: The errors that `session.notify` throws.
    public func send(_ state: GamepadReport, in session: PeripheralSession) async throws {
        try await report.send(state.bytes, in: session)
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService { hid.service }

    private static let reportMap: [UInt8] = [
        0x05, 0x01,  // Usage Page (Generic Desktop)
        0x09, 0x05,  // Usage (Gamepad)
        0xA1, 0x01,  // Collection (Application)
        0x85, 0x01,  //   Report ID (1)
        0x05, 0x09,  //   Usage Page (Button)
        0x19, 0x01,  //   Usage Minimum (1)
        0x29, 0x10,  //   Usage Maximum (16)
        0x15, 0x00,  //   Logical Minimum (0)
        0x25, 0x01,  //   Logical Maximum (1)
        0x75, 0x01,  //   Report Size (1)
        0x95, 0x10,  //   Report Count (16)
        0x81, 0x02,  //   Input (Data, Variable, Absolute): buttons
        0x05, 0x01,  //   Usage Page (Generic Desktop)
        0x09, 0x39,  //   Usage (Hat Switch)
        0x15, 0x01,  //   Logical Minimum (1)
        0x25, 0x08,  //   Logical Maximum (8)
        0x35, 0x00,  //   Physical Minimum (0)
        0x46, 0x3B, 0x01,  //   Physical Maximum (315)
        0x65, 0x14,  //   Unit (degrees)
        0x75, 0x04,  //   Report Size (4)
        0x95, 0x01,  //   Report Count (1)
        0x81, 0x42,  //   Input (Data, Variable, Absolute, Null State): directional pad
        0x65, 0x00,  //   Unit (none)
        0x45, 0x00,  //   Physical Maximum (as the logical one)
        0x81, 0x01,  //   Input (Constant): up to a byte
        0x09, 0x30,  //   Usage (X)
        0x09, 0x31,  //   Usage (Y)
        0x09, 0x32,  //   Usage (Z)
        0x09, 0x35,  //   Usage (Rz)
        0x15, 0x81,  //   Logical Minimum (-127)
        0x25, 0x7F,  //   Logical Maximum (127)
        0x75, 0x08,  //   Report Size (8)
        0x95, 0x04,  //   Report Count (4)
        0x81, 0x02,  //   Input (Data, Variable, Absolute): sticks
        0x05, 0x02,  //   Usage Page (Simulation Controls)
        0x09, 0xC5,  //   Usage (Brake)
        0x09, 0xC4,  //   Usage (Accelerator)
        0x15, 0x00,  //   Logical Minimum (0)
        0x26, 0xFF, 0x00,  //   Logical Maximum (255)
        0x95, 0x02,  //   Report Count (2)
        0x81, 0x02,  //   Input (Data, Variable, Absolute): triggers
        0xC0,  // End Collection
    ]
}
