internal import PeripheralCore
internal import PeripheralKit
internal import PeripheralTesting

/// What a central learns of changes of the services.
extension TestCentral {
    /// Subscribes to Service Changed.
    ///
    /// - Returns: The value handle of Service Changed.
    func subscribeToServiceChanged() async throws -> AttributeHandle {
        let handle = try await locate(.serviceChanged)
        try await subscribe(handle, to: .indication)
        return handle
    }

    /// Reads the Database Hash.
    func databaseHash() async throws -> [UInt8] {
        try await readLong(locate(.databaseHash))
    }

    /// Returns the value handle of a characteristic that the stack itself provides.
    private func locate(_ characteristic: BluetoothUUID) async throws -> AttributeHandle {
        let found = try await discover().services.flatMap(\.characteristics).first {
            $0.uuid == characteristic
        }
        guard let found else {
            throw ConformanceFailure(description: "Characteristic \(characteristic) is missing.")
        }
        return found.valueHandle
    }

    /// Returns the types of the services, without those of the stack.
    ///
    /// The handles of added services can precede those of declared services.
    func serviceTypes() async throws -> Set<BluetoothUUID> {
        Set(try await discover().applicationServices.map(\.uuid))
    }

    /// Returns the handles of a service.
    func handles(of service: BluetoothUUID) async throws -> ClosedRange<AttributeHandle> {
        let found = try await discover().services.first { $0.uuid == service }
        guard let found else { throw ConformanceFailure(description: "Service \(service) is missing.") }
        return found.handles
    }

    /// Waits for the value 255 of a characteristic, and for indications of Service Changed.
    ///
    /// bluetoothd sends an indication only after the confirmation of the previous one. Notifications can
    /// therefore precede indications of earlier changes.
    ///
    /// - Parameters:
    ///   - count: The number of indications to wait for.
    ///   - value: The characteristic.
    ///   - serviceChanged: The value handle of Service Changed.
    /// - Returns: The handles in the indications, and the other values of the characteristic.
    /// - Throws: The errors of ``TestCentral/nextUpdate()``.
    func changes(
        _ count: Int,
        andValuesOf value: Characteristic<[UInt8]>,
        _ serviceChanged: AttributeHandle
    ) async throws -> (changes: [ClosedRange<AttributeHandle>], values: [UInt8]) {
        var (changes, values): ([ClosedRange<AttributeHandle>], [UInt8]) = ([], [])
        while values.last != 255 || changes.count < count {
            let (characteristic, update) = try await nextUpdate()
            if characteristic == serviceChanged {
                changes.append(try update.changedHandles())
            } else {
                values += update.value
            }
        }
        return (changes, Array(values.dropLast()))
    }

    /// Waits for exactly these indications of Service Changed.
    func expectChanges(
        _ expected: [ClosedRange<AttributeHandle>],
        _ gateway: Gateway,
        _ serviceChanged: AttributeHandle,
        _ session: PeripheralSession
    ) async throws {
        try await session.notify(gateway.base, [255])
        var (changes, _) = try await self.changes(expected.count, andValuesOf: gateway.base, serviceChanged)
        // A further indication would arrive before the answer and the next value.
        _ = try await read(gateway.base)
        try await session.notify(gateway.base, [255])
        changes += try await self.changes(0, andValuesOf: gateway.base, serviceChanged).changes
        try expect("indications of Service Changed", changes, is: expected)
    }
}

extension ReceivedUpdate {
    /// The handles in an indication of Service Changed.
    func changedHandles() throws -> ClosedRange<AttributeHandle> {
        try expect("length of Service Changed", value.count, is: 4)
        let numbers = [0, 2].map { UInt16(value[$0]) | UInt16(value[$0 + 1]) << 8 }
        guard numbers[0] <= numbers[1] else {
            throw ConformanceFailure(description: "Service Changed has no handles: \(value).")
        }
        return AttributeHandle(rawValue: numbers[0])...AttributeHandle(rawValue: numbers[1])
    }
}
