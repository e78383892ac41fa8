internal import PeripheralCore

/// One attribute of a ``ServerDatabase``.
struct ServerAttribute: Sendable {
    /// The source of the value.
    enum Content: Sendable {
        case fixed([UInt8])
        /// The client characteristic configuration of the characteristic with the given value handle.
        case configuration(of: AttributeHandle)
        case clientFeatures
        case databaseHash
        /// The application stores the value.
        ///
        /// The `AttributeHandle` is the handle of the value in the attribute table of the application.
        ///
        /// If the characteristic has the `write-without-response` property, bluetoothd itself answers each
        /// write request and receives no result from the program.
        case application(ApplicationID, AttributeHandle, acknowledgesWrites: Bool)
    }

    enum Access: Sendable {
        case read, write
    }

    private(set) var handle: AttributeHandle
    /// If there are no permissions, bluetoothd checks none: a read of a characteristic that can only be
    /// notified is passed to the application.
    private(set) var permissions: DescriptorPermissions
    private(set) var readSecurity: SecurityLevel = .open
    private(set) var writeSecurity: SecurityLevel = .open
    var content: Content
    /// Whether the application authorizes each part of a value before it is prepared.
    var authorizesWrites = false

    /// The server's own response to a request that is not allowed.
    func refusal(of access: Access, at security: SecurityLevel) -> ATTError? {
        guard !permissions.isEmpty else { return nil }
        let required: SecurityLevel
        switch access {
        case .read:
            guard permissions.contains(.read) else { return .readNotPermitted }
            required = readSecurity
        case .write:
            guard permissions.contains(.write) else { return .writeNotPermitted }
            required = writeSecurity
        }
        guard security < required else { return nil }
        return required == .encrypted ? .insufficientEncryption : .insufficientAuthentication
    }
}

extension ServerAttribute {
    /// A service declaration (Core Specification, Vol 3, Part G, 3.1).
    static func serviceDeclaration(_ uuid: BluetoothUUID, at handle: AttributeHandle) -> ServerAttribute {
        ServerAttribute(handle: handle, permissions: .read, content: .fixed(uuid.attBytes))
    }

    /// A characteristic declaration (Core Specification, Vol 3, Part G, 3.3.1).
    static func characteristicDeclaration(
        _ characteristic: DiscoveredCharacteristic,
        properties: UInt8
    ) -> ServerAttribute {
        ServerAttribute(
            handle: characteristic.declarationHandle,
            permissions: .read,
            content: .fixed(
                [properties] + characteristic.valueHandle.rawValue.gattBytes + characteristic.uuid.attBytes
            )
        )
    }
}
