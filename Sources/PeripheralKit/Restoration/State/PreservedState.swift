package import PeripheralCore

/// The state of one peripheral that survives the end of a program.
///
/// The state is a pure value. ``init(decoding:)`` and ``restorationState`` convert it from and to the
/// form of a ``RestorationStore``.
package struct PreservedState: Hashable, Sendable {
    /// The name of the peripheral.
    package var name: String

    /// The address of the adapter that the peripheral used on the air.
    ///
    /// The address is `nil` when the stack has not reported it.
    package var adapter: DeviceAddress?

    /// The database that centrals had discovered.
    package var database: PreservedDatabase

    /// The advertisements with the fields that the program had set.
    package var advertisements: [Advertisement]

    /// The subscribers, in the order in which they subscribed.
    package var subscribers: [PreservedSubscriber]

    /// The persistent values, by their value handles in the table of the database.
    package var values: [AttributeHandle: [UInt8]]

    /// Values of earlier declarations that the present declaration cannot accept, by their value handles.
    ///
    /// These values stay preserved until they are replaced.
    package var formerValues: [AttributeHandle: [UInt8]]

    /// The updates of durable characteristics that had not been sent, in order.
    package var updates: [PreservedUpdate]

    /// Further declared options of the characteristics, by their value handles in the table of the database.
    ///
    /// A characteristic without an entry has no options.
    package var options: [AttributeHandle: PreservedOptions]

    /// The presentation formats that each aggregate format names, by the handles of the descriptors in the
    /// table.
    package var formats: [AttributeHandle: [AttributeHandle]]

    /// The places of services that were removed.
    package var formerPlaces: FormerPlaces

    /// The identity addresses of the centrals that have bonded with the peripheral; the oldest is the first.
    package var bonds: [DeviceAddress]

    /// The backend's preserved state; empty without such state.
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
        formerPlaces: FormerPlaces = FormerPlaces(),
        bonds: [DeviceAddress] = [],
        backendState: String = ""
    ) {
        self.bonds = bonds
        self.backendState = backendState
        self.formerPlaces = formerPlaces
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

/// A central that had subscribed to a characteristic.
package struct PreservedSubscriber: Hashable, Sendable {
    /// The identity address of a bonded central, or the address of any other central at that time.
    package var address: DeviceAddress

    /// The kind of the address; `nil` when the stack does not report it.
    package var addressKind: DeviceAddress.Kind?

    /// Whether the central was bonded and can therefore be recognized.
    package var isBonded: Bool

    /// The characteristic, by its value handle in the table of the database.
    package var characteristic: AttributeHandle

    /// Whether the central had asked for notifications or indications; `nil` when the stack does not report
    /// it.
    package var kind: UpdateKind?

    /// The time of the subscription, in seconds since 1970-01-01 00:00 UTC.
    package var since: Int64

    /// The adapter to which it was connected when it subscribed.
    ///
    /// The address is `nil` when the stack has not reported it.
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

/// A new value that had not been sent to a subscriber.
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
    /// Returns the distance from an earlier or equal handle.
    func offset(from start: AttributeHandle) -> UInt16 {
        rawValue - start.rawValue
    }

    /// Returns the handle at a distance; `nil` beyond the last handle.
    func advanced(by offset: UInt16) -> AttributeHandle? {
        let (number, overflows) = rawValue.addingReportingOverflow(offset)
        return overflows ? nil : AttributeHandle(rawValue: number)
    }
}
