package import PeripheralCore

/// What survives the end of a program, of one peripheral.
///
/// A pure value: ``init(decoding:)`` and ``document`` take it from, and to, what a ``RestorationStore`` keeps.
package struct PreservedState: Hashable, Sendable {
    /// The name.
    package var name: String

    /// The address of the adapter that it was on the air of; `nil` when the stack has not told.
    package var adapter: DeviceAddress?

    /// What centrals had found.
    package var database: PreservedDatabase

    /// What was advertised, as the program had given it.
    package var advertisements: [Advertisement]

    /// Who had subscribed, the longest subscribed first.
    package var subscribers: [PreservedSubscriber]

    /// The values that are declared persistent, by their value handles in the table of the database.
    package var values: [AttributeHandle: [UInt8]]

    /// The values of earlier declarations that the one of the database cannot take, by the value handles, until there are others.
    package var formerValues: [AttributeHandle: [UInt8]]

    /// The updates of durable characteristics that had not been sent, in their order.
    package var updates: [PreservedUpdate]

    /// What else is declared of the characteristics, by their value handles in the table of the database; of those that are not
    /// there, nothing is.
    package var options: [AttributeHandle: PreservedOptions]

    /// The presentation formats that each aggregate format names, by the handles of the descriptors in the table of the database.
    package var formats: [AttributeHandle: [AttributeHandle]]

    /// What the backend has asked to preserve; empty for nothing.
    package var backendState: String

    package init(
        name: String,
        adapter: DeviceAddress? = nil,
        database: PreservedDatabase,
        advertisements: [Advertisement] = [],
        subscribers: [PreservedSubscriber] = [],
        values: [AttributeHandle: [UInt8]] = [:],
        formerValues: [AttributeHandle: [UInt8]] = [:],
        updates: [PreservedUpdate] = [],
        options: [AttributeHandle: PreservedOptions] = [:],
        formats: [AttributeHandle: [AttributeHandle]] = [:],
        backendState: String = ""
    ) {
        self.backendState = backendState
        self.formats = formats
        self.formerValues = formerValues
        self.updates = updates
        self.options = options
        self.name = name
        self.adapter = adapter
        self.database = database
        self.advertisements = advertisements
        self.subscribers = subscribers
        self.values = values
    }
}

/// The attributes of a peripheral, and where they stood on the air.
package struct PreservedDatabase: Hashable, Sendable {
    /// The attributes; centrals know them by the handles on the air.
    package let table: AttributeTable

    /// The values that never change, by their handles in the table.
    package var staticValues: [AttributeHandle: [UInt8]]

    /// Where each service began on the air, by its place in the table, as far as the stack has told.
    ///
    /// What stands in a service follows: the attributes of a service have no gaps.
    package var startsOnAir: [Int: AttributeHandle]

    package init(
        table: AttributeTable,
        staticValues: [AttributeHandle: [UInt8]] = [:],
        startsOnAir: [Int: AttributeHandle] = [:]
    ) {
        self.table = table
        self.staticValues = staticValues
        self.startsOnAir = startsOnAir
    }

    /// Where an attribute stood on the air; `nil` when the stack has not told.
    package func handleOnAir(of handle: AttributeHandle) -> AttributeHandle? {
        guard let service = table[handle]?.kind.service, let start = startsOnAir[service] else { return nil }
        return start.advanced(by: handle.offset(from: table.serviceRange(service).lowerBound))
    }
}

/// A central that had subscribed to a characteristic.
package struct PreservedSubscriber: Hashable, Sendable {
    /// The address: the lasting one of a bonded central, otherwise what it went by at the time.
    package var address: DeviceAddress

    /// Who assigned the address; `nil` where the stack does not tell.
    package var addressKind: DeviceAddress.Kind?

    /// Whether it was bonded, so that it can be recognised.
    package var isBonded: Bool

    /// The characteristic, by its value handle in the table of the database.
    package var characteristic: AttributeHandle

    /// What it had asked for; `nil` where the stack does not tell.
    package var kind: UpdateKind?

    /// When it subscribed, in seconds since 1970-01-01 00:00 UTC.
    package var since: Int64

    /// The adapter on whose air it subscribed; `nil` when the stack has not told.
    package var adapter: DeviceAddress?

    package init(
        address: DeviceAddress,
        addressKind: DeviceAddress.Kind? = nil,
        isBonded: Bool,
        characteristic: AttributeHandle,
        kind: UpdateKind? = nil,
        since: Int64,
        adapter: DeviceAddress? = nil
    ) {
        self.address = address
        self.addressKind = addressKind
        self.isBonded = isBonded
        self.characteristic = characteristic
        self.kind = kind
        self.since = since
        self.adapter = adapter
    }
}

/// A new value that a subscriber had not been sent.
package struct PreservedUpdate: Hashable, Sendable {
    /// The characteristic, by its value handle in the table of the database.
    package var characteristic: AttributeHandle

    /// The address of the subscriber.
    package var address: DeviceAddress

    /// The value.
    package var value: [UInt8]

    package init(characteristic: AttributeHandle, address: DeviceAddress, value: [UInt8]) {
        self.characteristic = characteristic
        self.address = address
        self.value = value
    }
}

extension AttributeHandle {
    /// How many handles this one stands behind another, which is not behind it.
    func offset(from start: AttributeHandle) -> UInt16 {
        rawValue - start.rawValue
    }

    /// The handle that stands so far behind this one; `nil` past the last.
    func advanced(by offset: UInt16) -> AttributeHandle? {
        let (number, overflows) = rawValue.addingReportingOverflow(offset)
        return overflows ? nil : AttributeHandle(rawValue: number)
    }
}
