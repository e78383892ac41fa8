public import PeripheralKit
private import Synchronization

/// The Human Interface Device service, 0x1812, for keyboards, mice, gamepads and other input devices.
///
/// The service implements the HID Service specification 1.0 and the HID over GATT profile 1.0.
///
/// ``HIDKeyboard`` and ``HIDGamepad`` contain report maps for keyboards and gamepads. For any other input
/// device, provide a report map:
///
/// ```swift
/// import PeripheralBattery
/// import PeripheralBlueZ
/// import PeripheralDeviceInformation
/// import PeripheralHID
/// import PeripheralKit
///
/// let keys = HIDReport.input(id: 1, length: 1)
/// let remote = HIDService(reportMap: consumerControlMap, reports: [keys])
/// let peripheral = Peripheral("Remote", pairing: .justWorks) {
///     remote
///     BatteryService(level: BatteryLevel(100))
///     DeviceInformationService(pnpID: PnPID(vendor: .usb(0x1234), product: 1, version: 0x0100))
///     Advertisement(appearance: 0x0180)
/// }
/// try await peripheral.run(on: .bluez) { session in … }
/// ```
///
/// The HID over GATT profile requires a Battery service and a Device Information service with a PnP ID. The
/// HID over GATT profile allows access to the characteristics only over encrypted links. For encryption,
/// hosts must pair with the device.
public struct HIDService: GATTServiceDeclaration {
    /// The HID Information characteristic, 0x2A4A, which hosts read.
    public let information: Characteristic<HIDInformation>

    /// The Report Map characteristic, 0x2A4B, which hosts read.
    public let reportMap: Characteristic<[UInt8]>

    /// The HID Control Point characteristic, 0x2A4C, which hosts write without a response.
    public let controlPoint: Characteristic<HIDCommand>

    /// The reports, in the order of the attribute handles.
    public let reports: [HIDReport]

    /// The Protocol Mode characteristic, 0x2A4E, which hosts read and write.
    ///
    /// Hosts write the protocol mode without a response.
    ///
    /// The property is `nil` for a device that does not support the boot protocol.
    public let protocolMode: Characteristic<HIDProtocolMode>?

    let boot: BootKeyboard?

    /// Declares the service.
    ///
    /// - Parameters:
    ///   - reportMap: The report descriptor, which is at most 512 bytes long (USB HID 1.11, section 6.2.2).
    ///   - reports: The reports that the report map describes. Pass each report only once.
    ///   - information: The HID properties of the device.
    ///   - externalReport: The UUID of an external characteristic that the report map describes, such as
    ///     `.batteryLevel`. An external characteristic belongs to another service. If the report map
    ///     describes only characteristics of the HID service, pass `nil`.
    ///   - security: The security required to use the characteristics of the service. The HID over GATT
    ///     profile requires at least encryption. Each ``HIDReport`` declares the security of its Report
    ///     characteristic separately.
    ///   - onCommand: Handles the command that a host sends when the host suspends or resumes.
    public init(
        reportMap: [UInt8],
        reports: [HIDReport],
        information: HIDInformation = HIDInformation(),
        externalReport: BluetoothUUID? = nil,
        security: AttributeSecurity = .encrypted,
        onCommand: @escaping @Sendable (_ command: HIDCommand, _ host: Central) async -> Void = { _, _ in }
    ) {
        self.init(
            reportMap: reportMap,
            reports: reports,
            boot: nil,
            information: information,
            externalReport: externalReport,
            security: security,
            onCommand: onCommand
        )
    }

    init(
        reportMap: [UInt8],
        reports: [HIDReport],
        boot: BootKeyboard?,
        information: HIDInformation,
        externalReport: BluetoothUUID? = nil,
        security: AttributeSecurity,
        onCommand: @escaping @Sendable (HIDCommand, Central) async -> Void
    ) {
        self.reports = reports
        self.boot = boot
        self.information = Characteristic(.hidInformation, value: information, security: security)
        self.reportMap = Characteristic(.reportMap, value: reportMap, security: security) {
            if let externalReport {
                // Validation refuses a malformed UUID as a type. In the value, it cannot.
                Descriptor(
                    externalReport.attBytes.isEmpty ? externalReport : .externalReportReference,
                    value: externalReport.attBytes,
                    security: security
                )
            }
        }
        controlPoint = Characteristic(.hidControlPoint, .writeWithoutResponse, security: security) {
            Write(onCommand)
        }
        protocolMode = boot.map { boot in
            Characteristic(.protocolMode, [.read, .writeWithoutResponse], security: security) {
                Read { host in boot.modes.isBoot(host.id) ? .boot : .report }
                Write { mode, host in boot.modes.set(mode, of: host.id) }
            }
        }
    }

    /// The GATT service that the peripheral publishes.
    public var service: GATTService {
        GATTService(.humanInterfaceDevice) {
            if let protocolMode { protocolMode }
            information
            reportMap
            controlPoint
            reports.map(\.value)
            if let boot {
                boot.input
                boot.output
            }
        }
    }
}

/// The characteristics of a keyboard for hosts that do not read report maps.
///
/// HID Service 1.0, sections 2.6.1 and 2.6.2.
final class BootKeyboard: Sendable {
    /// The pressed keys.
    let last: LastReport
    /// The Boot Keyboard Input Report, 0x2A22.
    let input: Characteristic<[UInt8]>
    /// The Boot Keyboard Output Report, 0x2A32.
    let output: Characteristic<KeyboardLEDs>
    let modes = ProtocolModes()

    init(last: LastReport, input: Characteristic<[UInt8]>, output: Characteristic<KeyboardLEDs>) {
        (self.last, self.input, self.output) = (last, input, output)
    }
}

/// The hosts that use the boot protocol, for as long as they are connected.
final class ProtocolModes: Sendable {
    // A list, because hosts are few and a set adds kilobytes of code.
    private let hosts = Mutex<[Central.ID]>([])

    var hasBoot: Bool { hosts.withLock { !$0.isEmpty } }

    func isBoot(_ host: Central.ID) -> Bool {
        hosts.withLock { $0.contains(host) }
    }

    func set(_ mode: HIDProtocolMode, of host: Central.ID) {
        hosts.withLock { hosts in
            hosts.removeAll { $0 == host }
            if mode == .boot { hosts.append(host) }
        }
    }
}
