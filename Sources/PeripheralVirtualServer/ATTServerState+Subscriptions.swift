internal import PeripheralCore
internal import PeripheralKit

// MARK: The server's own attributes

extension ATTServerState {
    /// Handles a write of a client characteristic configuration.
    mutating func configure(
        _ characteristic: AttributeHandle,
        _ value: [UInt8],
        by id: ConnectionID
    ) -> Decision {
        guard let central = connections[id]?.central, value.count <= 2 else {
            return .answer(.failure(.invalidAttributeValueLength))
        }
        guard !value.isEmpty else { return .answer(.success([])) }
        let configuration = value.enumerated().reduce(0 as UInt16) {
            $0 | UInt16($1.element) << (8 * $1.offset)
        }
        let previous = devices[central.linkAddress]?.configurations[characteristic] ?? 0
        guard configuration != previous else { return .answer(.success([])) }

        guard let (application, local) = database.application(of: characteristic) else {
            // bluetoothd accepts any value for Service Changed.
            store(configuration, of: characteristic, for: central)
            return .answer(.success([]))
        }
        let properties = database.properties(of: characteristic)
        switch configuration {
        case 0: break
        case UpdateKind.notification.configuration where properties.contains(.notify): break
        case UpdateKind.indication.configuration where properties.contains(.indicate): break
        default: return .answer(.failure(.clientCharacteristicConfigurationImproperlyConfigured))
        }
        store(configuration, of: characteristic, for: central)
        return .subscription(
            application,
            SubscriptionChange(
                characteristic: local,
                central: central,
                from: previous,
                to: configuration,
                cause: .written
            )
        )
    }

    private mutating func store(
        _ configuration: UInt16,
        of characteristic: AttributeHandle,
        for central: Central
    ) {
        devices[central.linkAddress]?.movedConfigurations.remove(characteristic)
        devices[central.linkAddress, default: Device()].configurations[characteristic] =
            configuration == 0 ? nil : configuration
    }

    /// Handles a write of the client supported features.
    mutating func setClientFeatures(_ value: [UInt8], by id: ConnectionID) -> Result<[UInt8], ATTError> {
        guard let address = connections[id]?.central.linkAddress, value.count == 1 else {
            return .failure(.invalidAttributeValueLength)
        }
        // A central must not clear a bit that it has set.
        guard devices[address, default: Device()].clientFeatures & 0b111 & ~value[0] == 0 else {
            return .failure(.valueNotAllowed)
        }
        devices[address, default: Device()].clientFeatures |= value[0]
        return .success([])
    }
}

// MARK: - Updates

extension ATTServerState {
    /// An update for one central.
    struct Delivery: Sendable {
        var connection: ConnectionID
        var central: Central
        var security: SecurityLevel
        var handle: AttributeHandle
        var update: ReceivedUpdate
    }

    /// The updates to send for a new value of the characteristic with this value handle.
    func deliveries(of value: [UInt8], at handle: AttributeHandle) -> [Delivery] {
        connections.sorted { $0.key < $1.key }.compactMap { id, connection in
            guard let configuration = devices[connection.central.linkAddress]?.configurations[handle],
                configuration & 0b11 != 0
            else { return nil }
            let length = min(maximumLength, connection.central.mtu - 3)
            return Delivery(
                connection: id,
                central: connection.central,
                security: connection.security,
                handle: handle,
                update: ReceivedUpdate(
                    kind: UpdateKind(configuration: configuration),
                    value: Array(value.prefix(length))
                )
            )
        }
    }

    /// The Service Changed indications for services that were added or removed.
    func serviceChanges(of handles: ClosedRange<AttributeHandle>) -> [Delivery] {
        let value = handles.lowerBound.rawValue.gattBytes + handles.upperBound.rawValue.gattBytes
        return deliveries(of: value, at: database.serviceChanged)
    }

    /// Records added or removed services for subscribed centrals that are not connected.
    mutating func noteServiceChange(of handles: ClosedRange<AttributeHandle>) {
        let connected = Set(connections.values.map(\.central.linkAddress))
        for (address, device) in devices where !connected.contains(address) {
            guard let configuration = device.configurations[database.serviceChanged],
                configuration & 0b11 != 0
            else { continue }
            let missed = device.missedChange ?? handles
            let first = min(missed.lowerBound, handles.lowerBound)
            let last = max(missed.upperBound, handles.upperBound)
            devices[address]?.missedChange = first...last
        }
    }
}

extension UpdateKind {
    /// The kind of updates that bluetoothd sends for a configuration with at least one of the two bits.
    fileprivate init(configuration: UInt16) {
        self = configuration & 0b10 == 0 ? .notification : .indication
    }
}
