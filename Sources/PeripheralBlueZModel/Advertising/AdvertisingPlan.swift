public import PeripheralCore
public import PeripheralKit

/// A prediction of the bytes that an adapter transmits for an advertisement.
///
/// The plan models the behavior of bluetoothd and of the Linux kernel 5.11 or later. The model determines the
/// order of the advertising structures, and the position of the name. The model adds the same flags as
/// bluetoothd and the kernel, and reports whether BlueZ refuses the advertisement. The text description of a
/// plan is a table:
///
/// ```
/// BlueZ 5.66 on a Bluetooth 4 adapter: legacy advertising, connectable
/// interval of bluetoothd's configuration, by default 1280 ms
/// advertising data, 7 of 31 bytes
///     0  03 03 0f 18                       services
///     4  02 01 06                          flags, added by BlueZ
/// scan response, 6 of 31 bytes
///     0  05 09 4c 61 6d 70                 local name "Lamp"
/// ```
public struct AdvertisingPlan: Hashable, Sendable {
    /// The capabilities of the adapter and of the Bluetooth stack.
    public let capabilities: AdvertisingCapabilities

    /// The structures of the advertising data, followed by the structures of the scan response.
    ///
    /// The list includes structures that do not fit into a packet. See ``Entry/fits``.
    public let entries: [Entry]

    /// The errors and warnings about the advertisement.
    ///
    /// An error describes a structure that does not fit or that BlueZ refuses. A warning describes a declared
    /// structure that the Bluetooth stack changes or omits.
    public let issues: [DeclarationIssue]

    /// Whether the advertisement uses extended advertising.
    ///
    /// Bluetooth 4 scanners do not receive extended advertisements.
    public let isExtended: Bool

    /// Whether a central that receives the advertisement can connect.
    public let isConnectable: Bool

    /// Whether scanners can request a scan response.
    public let isScannable: Bool

    /// The maximum number of bytes in the advertising data.
    public let advertisingDataCapacity: Int

    /// The maximum number of bytes in the scan response.
    public let scanResponseCapacity: Int

    /// The advertising interval, or `nil` if the configuration of bluetoothd determines it.
    ///
    /// Before 5.77, bluetoothd ignores the interval of an advertisement. The interval is then that of
    /// `MinAdvertisementInterval` and `MaxAdvertisementInterval` in `main.conf`, by default 1280 ms.
    public let interval: AdvertisingInterval?

    /// The longer interval after some time, or `nil` if the interval stays the same.
    public let slowing: AdvertisingSlowdown?

    /// Whether the adapter can transmit the advertisement.
    ///
    /// The value is `false` if ``issues`` contains an error.
    public var isPossible: Bool {
        !issues.contains { $0.severity == .error }
    }

    /// The content of the advertising data.
    ///
    /// If the advertising data has no room for a structure, the content omits the structure.
    ///
    /// The adapter sends the advertising data only if ``isPossible`` is `true`.
    public var advertisingData: AdvertisingData { data(in: .advertisingData) }

    /// The content of the scan response.
    ///
    /// If the scan response has no room for a structure, the content omits the structure.
    ///
    /// The value is empty if the advertisement has no scan response.
    public var scanResponse: AdvertisingData { data(in: .scanResponse) }

    /// The declared name that the adapter transmits, or `nil` if the adapter transmits no declared name.
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
    /// The place of a structure within the advertisement.
    public enum Place: Hashable, Sendable {
        /// The advertising data, which every packet of the advertisement contains.
        case advertisingData
        /// The scan response, which a scanner can request.
        case scanResponse
    }

    /// The component that adds a structure to the advertisement.
    public enum Source: Hashable, Sendable {
        /// The declaration.
        case declaration
        /// The BlueZ daemon, bluetoothd.
        case daemon
        /// The Linux kernel.
        case kernel
    }

    /// An advertising structure of the advertisement, in its transmitted form.
    ///
    /// See the Core Specification, Vol 3, Part C, Section 11.
    public struct Entry: Hashable, Sendable {
        /// The advertising field that the structure contains.
        public let field: AdvertisingField
        /// The part of the advertisement that contains the structure.
        public let place: Place
        /// The component that adds the structure to the advertisement.
        public let source: Source
        /// The type of the structure.
        public let type: AdvertisingStructure.DataType
        /// The bytes of the structure after the length and the type.
        public let data: [UInt8]
        /// Whether the structure contains only the beginning of the declared data.
        public let isShortened: Bool
        /// Whether the data is a placeholder.
        ///
        /// Only the Bluetooth stack can determine the value that replaces a placeholder.
        public let isPlaceholder: Bool
        /// Whether the packet has room for the structure.
        public internal(set) var fits = true

        /// The size of the structure in bytes, including the length, the type, and the data.
        public var byteCount: Int { 2 + data.count }

        /// The bytes of the structure, in the order in which the adapter transmits them.
        ///
        /// The bytes consist of the length, the type and the data.
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
    /// Returns the plan of the advertisement for an adapter.
    ///
    /// You can compute a plan on a machine without a Bluetooth adapter. An advertisement can take its name
    /// and services from the peripheral. The plan does not include a name or services from the peripheral.
    /// The plans of ``Peripheral/advertisingPlans(for:)`` include the name and services of the peripheral.
    ///
    /// - Parameter capabilities: The capabilities of the adapter and the Bluetooth stack, such as `.legacy`
    ///   or `.extended("5.66")`.
    /// - Returns: The plan. If BlueZ would refuse the advertisement, ``AdvertisingPlan/isPossible`` is
    ///   `false`.
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
