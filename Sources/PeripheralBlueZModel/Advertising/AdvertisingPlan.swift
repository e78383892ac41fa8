public import PeripheralCore
public import PeripheralKit

/// The bytes that an advertisement has on the air, computed before registration.
///
/// The plan models bluetoothd together with the kernel, 5.11 or later. The model covers the order of the
/// structures, the flags that bluetoothd and the kernel add, the place of the name, and refusals. A printed
/// plan is a table:
///
/// ```
/// BlueZ 5.66 on a Bluetooth 4 adapter: legacy advertising, connectable
/// advertising data, 7 of 31 bytes
///     0  03 03 0f 18                       services
///     4  02 01 06                          flags, added by BlueZ
/// scan response, 6 of 31 bytes
///     0  05 09 4c 61 6d 70                 local name "Lamp"
/// ```
public struct AdvertisingPlan: Hashable, Sendable {
    /// The adapter and the stack that the plan is for.
    public let capabilities: AdvertisingCapabilities

    /// The structures in order: those of the advertising data, then those of the scan response.
    ///
    /// The list includes structures that do not fit: see ``Entry/fits``.
    public let entries: [Entry]

    /// The errors and warnings about the advertisement.
    ///
    /// An error describes a structure that does not fit or is refused. A warning describes a structure that
    /// is sent in another form than declared.
    public let issues: [DeclarationIssue]

    /// Whether extended advertising is used, which Bluetooth 4 scanners do not receive.
    public let isExtended: Bool

    /// Whether centrals can connect.
    public let isConnectable: Bool

    /// Whether scanners can request a scan response.
    public let isScannable: Bool

    /// The maximum number of bytes in the advertising data.
    public let advertisingDataCapacity: Int

    /// The maximum number of bytes in the scan response.
    public let scanResponseCapacity: Int

    /// Whether the advertisement can be on the air, which means that no issue is an error.
    public var isPossible: Bool {
        !issues.contains { $0.severity == .error }
    }

    /// The advertising data, without the structures that do not fit.
    ///
    /// The advertising data is sent only if the plan is possible.
    public var advertisingData: AdvertisingData { data(in: .advertisingData) }

    /// The scan response, without the structures that do not fit; empty if there is none.
    public var scanResponse: AdvertisingData { data(in: .scanResponse) }

    /// The declared name as it is on the air; `nil` if there is none.
    package var localName: String? {
        let entry = entries.first { $0.field == .localName && $0.source == .declaration && $0.fits }
        return entry.map { String(decoding: $0.data, as: UTF8.self) }
    }

    private func data(in place: Place) -> AdvertisingData {
        AdvertisingData(
            entries.compactMap { entry in
                entry.place == place && entry.fits ? AdvertisingStructure(entry.type, entry.data) : nil
            }
        )
    }
}

extension AdvertisingPlan {
    /// The part of the advertisement that contains a structure.
    public enum Place: Hashable, Sendable {
        /// The data that every packet contains.
        case advertisingData
        /// The data that a scanner can request.
        case scanResponse
    }

    /// The origin of a structure.
    public enum Source: Hashable, Sendable {
        /// The declaration.
        case declaration
        /// BlueZ's daemon.
        case daemon
        /// The kernel.
        case kernel
    }

    /// One structure on the air (Core Specification, Vol 3, Part C, 11).
    public struct Entry: Hashable, Sendable {
        /// The field that the structure contains.
        public let field: AdvertisingField
        /// The part of the advertisement that contains the structure.
        public let place: Place
        /// The origin of the structure.
        public let source: Source
        /// The type of the structure.
        public let type: AdvertisingStructure.DataType
        /// The bytes after the type.
        public let data: [UInt8]
        /// Whether the structure contains only the beginning of the declared data.
        public let isShortened: Bool
        /// Whether the data is a placeholder for a value that only the stack knows.
        public let isPlaceholder: Bool
        /// Whether the packet has room for the structure.
        public internal(set) var fits = true

        /// The total size in bytes of the length, the type, and the data.
        public var byteCount: Int { 2 + data.count }

        /// The bytes on the air.
        public var bytes: [UInt8] {
            [UInt8(clamping: data.count + 1), type.rawValue] + data
        }

        /// Whether a declared value has no bytes.
        private(set) var isEmpty = false

        var isFromKernel: Bool { source == .kernel }

        init(
            _ element: AdvertisementStructures.Element,
            in place: Place
        ) {
            self.init(element.field, element.type, element.data, in: place)
            isEmpty = element.isEmpty
        }

        init(
            _ field: AdvertisingField,
            _ type: AdvertisingStructure.DataType,
            _ data: [UInt8],
            in place: Place,
            by source: Source = .declaration,
            isShortened: Bool = false,
            isPlaceholder: Bool = false
        ) {
            self.field = field
            self.place = place
            self.source = source
            self.type = type
            self.data = data
            self.isShortened = isShortened
            self.isPlaceholder = isPlaceholder
        }
    }
}

extension Advertisement {
    /// Returns the advertisement as it is sent on an adapter.
    ///
    /// This machine does not need to have the adapter. If the declaration leaves the name or the services to
    /// the peripheral, the plan does not include them. ``Peripheral/advertisingPlans(for:)`` includes them.
    ///
    /// - Parameter capabilities: The adapter and the stack, such as `.legacy` or `.extended("5.66")`.
    /// - Returns: The plan. If the advertisement would be refused, ``AdvertisingPlan/isPossible`` is `false`.
    public func plan(for capabilities: AdvertisingCapabilities) -> AdvertisingPlan {
        plan(for: capabilities, named: "advertisement")
    }

    /// Returns the plan, with the given name of the advertisement in its issues.
    package func plan(for capabilities: AdvertisingCapabilities, named element: String) -> AdvertisingPlan {
        AdvertisingComposer(self, for: capabilities, named: element).plan
    }
}

extension [AdvertisingPlan.Entry] {
    var byteCount: Int { reduce(0) { $0 + $1.byteCount } }

    /// The size without the structures that the kernel adds.
    var ownByteCount: Int { filter { !$0.isFromKernel }.byteCount }
}
