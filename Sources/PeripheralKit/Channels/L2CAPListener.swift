public import PeripheralCore

/// Accepts L2CAP channels, which are streams of packets between a central and the peripheral.
///
/// ```swift
/// let uploads = L2CAPListener(security: .encrypted) { channel in
///     for await packet in channel { try await image.append(packet) }
/// }
/// let peripheral = Peripheral("Updates", pairing: .justWorks) {
///     GATTService("5c3a0001-7e3c-4b6e-9d29-b3f1c0a1d001") { uploads.psm }
///     uploads
/// }
/// ```
///
/// A central that knows the PSM of the listener can open channels (Core Specification, Vol 3, Part A, 4.22:
/// LE Credit Based Connection). The characteristic ``psm`` publishes the PSM. Each channel has a call of the
/// handler. The channel closes when the handler returns or throws an error. <doc:Channels> describes when to
/// use a channel, and when to use a characteristic.
///
/// The Bluetooth stack enforces the security of the listener. If the link of a central has less security, the
/// stack refuses the channel, and the program receives no report.
public struct L2CAPListener: Sendable {
    /// Handles one channel.
    typealias Handler = @Sendable (_ channel: L2CAPChannel, _ session: PeripheralSession) async throws -> Void

    /// The number that the listener requests.
    public let requestedPSM: PSM
    /// The security that the link of a central must have.
    public let security: SecurityLevel
    /// The longest packet that the listener receives, in bytes.
    public let mtu: Int
    /// The limits of the listener.
    public let limits: ChannelLimits

    /// The characteristic that publishes the PSM, for any service of the peripheral.
    ///
    /// Its UUID is the one of CoreBluetooth, `CBUUIDL2CAPPSMCharacteristicString`. Its value is the PSM that
    /// the listener has now. A central that cannot read it because the peripheral is off the air receives
    /// `ATTError.unlikelyError`.
    public let psm: Characteristic<UInt16>

    let identity = DeclarationIdentity()
    let handler: Handler

    /// Declares a listener.
    ///
    /// - Parameters:
    ///   - psm: The number of the listener. Without it, the Bluetooth stack chooses a number.
    ///   - security: The security that the link of a central must have, as for an attribute.
    ///   - mtu: The longest packet that the listener receives, from 23 to 65,535 bytes. A central that sends
    ///     a longer packet loses the channel. Some systems have a smaller maximum, which is logged.
    ///   - limits: The limits for channels and buffered bytes.
    ///   - handler: Handles one channel. The handler can run many times at once. When the run ends, its task
    ///     is cancelled, and the channel has ended. The framework logs an error that it throws.
    public init(
        psm: PSM = .any,
        security: SecurityLevel = .open,
        mtu: Int = 2048,
        limits: ChannelLimits = ChannelLimits(),
        _ handler:
            @escaping @Sendable (_ channel: L2CAPChannel, _ session: PeripheralSession) async throws -> Void
    ) {
        requestedPSM = psm
        self.security = security
        self.mtu = mtu
        self.limits = limits
        self.handler = handler
        let identity = identity
        let number = Read<UInt16> { _, session in try session.runtime.channels.psm(of: identity) }
        var declaration = CharacteristicDeclaration(
            uuid: .l2capPSM,
            properties: .read,
            security: .open,
            length: .any,
            parts: [.read(number.source)]
        )
        declaration.listener = identity
        self.psm = Characteristic(declaration: declaration)
    }

    /// Declares a listener with a handler that receives only the channel.
    ///
    /// See ``init(psm:security:mtu:limits:_:)-(_,_,_,_,(L2CAPChannel,PeripheralSession)->Void)``.
    public init(
        psm: PSM = .any,
        security: SecurityLevel = .open,
        mtu: Int = 2048,
        limits: ChannelLimits = ChannelLimits(),
        _ handler: @escaping @Sendable (_ channel: L2CAPChannel) async throws -> Void
    ) {
        self.init(psm: psm, security: security, mtu: mtu, limits: limits) { channel, _ in
            try await handler(channel)
        }
    }
}

extension BluetoothUUID {
    /// The characteristic that publishes the PSM of an L2CAP listener, as in CoreBluetooth.
    public static let l2capPSM: BluetoothUUID = "ABDD8E30-EF37-4F9D-ACBA-F2BFA5D24CE6"
}
