public import PeripheralCore
public import PeripheralKit

extension TestCentral {
    /// Finds a declared characteristic of the peripheral in the discovered database.
    ///
    /// - Throws: `TestCentralError` with the code `notFound` when the peripheral does not declare the
    ///   characteristic, or when the central has not discovered the characteristic.
    public func locate<Value>(_ characteristic: Characteristic<Value>) async throws
        -> DiscoveredCharacteristic
    {
        try await knownDatabase().locate(characteristic, of: peripheral)
    }

    /// Reads a characteristic.
    ///
    /// If a response packet is full, the central requests the next bytes of the value (Core Specification,
    /// Vol 3, Part G, 4.8.3).
    ///
    /// - Throws: `ATTError` when the peripheral refuses the read, `GATTDecodingError` when the bytes are not
    ///   a valid `Value`, or `TestCentralError` for any other failure.
    public func read<Value>(_ characteristic: Characteristic<Value>) async throws -> Value {
        try Value(gattBytes: await readLong(locate(characteristic).valueHandle))
    }

    /// Reads the bytes of a characteristic descriptor.
    ///
    /// - Throws: `TestCentralError` with the code `notFound` when the characteristic does not have the
    ///   descriptor.
    public func read<Value>(
        _ descriptor: BluetoothUUID,
        of characteristic: Characteristic<Value>
    ) async throws -> [UInt8] {
        try await readLong(locate(characteristic).handle(of: descriptor))
    }

    /// Reads the complete value of an attribute, with several requests if necessary.
    public func readLong(_ handle: AttributeHandle) async throws -> [UInt8] {
        let capacity = try await mtu - 1
        var value = try await read(handle, offset: 0)
        var filledPacket = value.count == capacity
        while filledPacket {
            do {
                let part = try await read(handle, offset: value.count)
                value += part
                filledPacket = part.count == capacity
            } catch let refusal as ATTError where refusal == .attributeNotLong {
                break
            }
        }
        return value
    }

    /// Writes a characteristic and waits for the response.
    ///
    /// If a value does not fit into one packet, the central writes the value in several parts (Core
    /// Specification, Vol 3, Part G, 4.9.4).
    public func write<Value>(_ characteristic: Characteristic<Value>, _ value: Value) async throws {
        try await writeLong(locate(characteristic).valueHandle, value.gattBytes)
    }

    /// Writes the complete value of an attribute, with several requests if necessary.
    public func writeLong(_ handle: AttributeHandle, _ value: [UInt8]) async throws {
        let mtu = try await mtu
        guard value.count > mtu - 3 else {
            return try await write(handle, value)
        }
        do {
            for offset in stride(from: 0, to: value.count, by: mtu - 5) {
                let part = value[offset..<min(offset + mtu - 5, value.count)]
                try await prepareWrite(handle, Array(part), offset: offset)
            }
        } catch let refusal as ATTError {
            try await executePreparedWrites(commit: false)
            throw refusal
        }
        try await executePreparedWrites(commit: true)
    }

    /// Writes a characteristic with a Write Command, which has no response.
    public func writeWithoutResponse<Value>(
        _ characteristic: Characteristic<Value>,
        _ value: Value
    ) async throws {
        try await writeWithoutResponse(locate(characteristic).valueHandle, value.gattBytes)
    }

    /// Writes a request to a control point, without waiting for the response.
    ///
    /// The method returns when the peripheral has answered the write request.
    ///
    /// - Throws: `ATTError` when the peripheral refuses the request, or `TestCentralError` for any other
    ///   failure.
    public func write<Response>(
        _ request: some GATTValue,
        to controlPoint: Characteristic<Response>
    ) async throws {
        try await writeLong(locate(controlPoint).valueHandle, request.gattBytes)
    }

    /// Writes a request to a subscribed control point, and waits for the response.
    ///
    /// - Throws: `ATTError` when the peripheral refuses the request. The method also throws any error that
    ///   ``nextUpdate(of:)`` throws.
    public func request<Response>(
        _ request: some GATTValue,
        of controlPoint: Characteristic<Response>
    ) async throws -> Response {
        try await write(request, to: controlPoint)
        return try await nextUpdate(of: controlPoint)
    }

    /// Subscribes to a characteristic.
    ///
    /// ```swift
    /// try await central.subscribe(to: power)
    /// try await session.notify(power, true)
    /// #expect(try await central.nextUpdate(of: power) == true)
    /// ```
    ///
    /// - Parameters:
    ///   - characteristic: The characteristic.
    ///   - kind: The kind of updates: notifications or indications. If the argument is `nil`, the central
    ///     subscribes to notifications. If the argument is `nil` and the characteristic does not support
    ///     notifications, the central subscribes to indications.
    /// - Throws: `ATTError` when the peripheral refuses the request, or `TestCentralError` for any other
    ///   failure.
    public func subscribe<Value>(
        to characteristic: Characteristic<Value>,
        for kind: UpdateKind? = nil
    ) async throws {
        let preferred: UpdateKind =
            characteristic.properties.contains(.notify) ? .notification : .indication
        try await subscribe(locate(characteristic).valueHandle, to: kind ?? preferred)
    }

    /// Ends the subscription to a characteristic.
    public func unsubscribe<Value>(from characteristic: Characteristic<Value>) async throws {
        try await unsubscribe(locate(characteristic).valueHandle)
    }

    /// Waits for the next value of a subscribed characteristic.
    ///
    /// - Throws: These errors:
    ///   - `TestCentralError` with the code `notSubscribed`, immediately, when no update has arrived and the
    ///     central has not subscribed
    ///   - `TestCentralError` with the code `timedOut` when no update arrives in time
    ///   - `TestCentralError` with the code `disconnected` when the connection ends
    ///   - `GATTDecodingError` when the bytes are not a valid `Value`
    public func nextUpdate<Value>(of characteristic: Characteristic<Value>) async throws -> Value {
        try Value(gattBytes: await nextUpdate(of: locate(characteristic).valueHandle).value)
    }

    /// Returns a sequence of the values that the central receives from a characteristic.
    ///
    /// The sequence begins with the received values that the test has not read yet.
    ///
    /// The sequence ends only when it throws an error. The sequence throws an error when the connection ends,
    /// or when no update arrives in time.
    public func updates<Value>(of characteristic: Characteristic<Value>) -> CentralUpdates<Value> {
        CentralUpdates(central: self, characteristic: characteristic)
    }
}

/// The values of a characteristic in the order in which a central receives them.
public struct CentralUpdates<Value: GATTValue>: AsyncSequence, Sendable {
    let central: any TestCentral
    let characteristic: Characteristic<Value>

    /// An iterator that returns one received value after another.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        let updates: CentralUpdates

        /// Waits for the next value, like ``TestCentral/nextUpdate(of:)``.
        public func next() async throws -> Value? {
            try await updates.central.nextUpdate(of: updates.characteristic)
        }
    }

    /// Creates an iterator.
    ///
    /// If several iterators exist, each value is delivered to exactly one iterator.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(updates: self)
    }
}
