public import PeripheralCore
public import PeripheralKit

/// What becomes of an advertisement on the air, byte by byte, before anything is registered.
///
/// It is what BlueZ's daemon and the kernel, 5.11 or later, make of it together: the order of the structures, the flags
/// that they add, where the name goes, and what is refused. Printed, it is a table:
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

    /// The structures in their order: those of the advertising data, then those of the scan response.
    ///
    /// They include those that do not fit, which ``Entry/fits`` tells.
    public let entries: [Entry]

    /// What does not fit or is refused (errors), and what is not as it seems (warnings).
    public let issues: [DeclarationIssue]

    /// Whether it goes out by extended advertising, which scanners of Bluetooth 4 do not hear.
    public let isExtended: Bool

    /// Whether centrals can connect.
    public let isConnectable: Bool

    /// Whether scanners can ask for a scan response.
    public let isScannable: Bool

    /// How many bytes of advertising data there are room for.
    public let advertisingDataCapacity: Int

    /// How many bytes of scan response there are room for.
    public let scanResponseCapacity: Int

    /// Whether it can be on the air at all: none of the issues is an error.
    public var isPossible: Bool {
        !issues.contains { $0.severity == .error }
    }

    /// The advertising data, without what does not fit.
    ///
    /// Nothing of it gets on the air unless the plan is possible.
    public var advertisingData: AdvertisingData { data(in: .advertisingData) }

    /// The scan response, without what does not fit; empty when there is none.
    public var scanResponse: AdvertisingData { data(in: .scanResponse) }

    /// The name as it is on the air; `nil` when there is none that the advertisement brings.
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
    /// Which of the two a structure is in.
    public enum Place: Hashable, Sendable {
        /// What every packet carries.
        case advertisingData
        /// What a scanner gets that asks for more.
        case scanResponse
    }

    /// Who has put a structure there.
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
        /// What it tells.
        public let field: AdvertisingField
        /// Which of the two it is in.
        public let place: Place
        /// Who has put it there.
        public let source: Source
        /// Its kind.
        public let type: AdvertisingStructure.DataType
        /// The bytes behind the kind.
        public let data: [UInt8]
        /// Whether this is only the beginning of what was declared.
        public let isShortened: Bool
        /// Whether only the stack knows the value, in whose place another one stands here.
        public let isPlaceholder: Bool
        /// Whether there is room for it.
        public internal(set) var fits = true

        /// How many bytes it takes: its length, its kind, and its data.
        public var byteCount: Int { 2 + data.count }

        /// The bytes on the air.
        public var bytes: [UInt8] {
            [UInt8(clamping: data.count + 1), type.rawValue] + data
        }

        var isFromKernel: Bool { source == .kernel }

        init(
            _ element: AdvertisementStructures.Element,
            in place: Place
        ) {
            self.init(element.field, element.type, element.data, in: place)
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
    /// Tells what becomes of the advertisement on an adapter, also one that this machine does not have.
    ///
    /// What the declaration leaves to the peripheral, its name and services, is left out;
    /// ``Peripheral/advertisingPlans(for:)`` fills it in.
    ///
    /// - Parameter capabilities: The adapter and the stack, such as `.legacy` or `.extended("5.66")`.
    /// - Returns: The plan; ``AdvertisingPlan/isPossible`` is false for an advertisement that would be refused.
    public func plan(for capabilities: AdvertisingCapabilities) -> AdvertisingPlan {
        plan(for: capabilities, named: "advertisement")
    }

    /// The plan, with issues that name the advertisement so.
    package func plan(for capabilities: AdvertisingCapabilities, named element: String) -> AdvertisingPlan {
        AdvertisingComposer(self, for: capabilities, named: element).plan
    }
}

extension [AdvertisingPlan.Entry] {
    var byteCount: Int { reduce(0) { $0 + $1.byteCount } }

    /// Without what the kernel adds.
    var ownByteCount: Int { filter { !$0.isFromKernel }.byteCount }
}
