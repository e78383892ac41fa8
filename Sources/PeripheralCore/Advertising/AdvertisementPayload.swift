/// What a device advertises, as values; and how it is divided into advertising data and scan response.
///
/// The division is the one that BlueZ makes: the name goes to the scan response, everything else to the
/// advertising data.
public struct AdvertisementPayload: Hashable, Sendable {
    /// Whether the device shows up in searches for new devices.
    ///
    /// The flags are sent in either case.
    public var isDiscoverable: Bool
    /// The name; as much of it is sent as fits.
    public var localName: String?
    /// The services.
    public var services: [BluetoothUUID]
    /// The manufacturer's own data, by company identifier.
    public var manufacturerData: [UInt16: [UInt8]]
    /// Data of services.
    public var serviceData: [BluetoothUUID: [UInt8]]
    /// What the device looks like.
    public var appearance: UInt16?

    /// Makes a payload.
    public init(
        isDiscoverable: Bool = true,
        localName: String? = nil,
        services: [BluetoothUUID] = [],
        manufacturerData: [UInt16: [UInt8]] = [:],
        serviceData: [BluetoothUUID: [UInt8]] = [:],
        appearance: UInt16? = nil
    ) {
        self.isDiscoverable = isDiscoverable
        self.localName = localName
        self.services = services
        self.manufacturerData = manufacturerData
        self.serviceData = serviceData
        self.appearance = appearance
    }

    /// What goes into the advertising data, in its order on the air.
    public var advertisingStructures: [AdvertisingStructure] {
        var structures = serviceStructures
        structures += manufacturerData.sorted { $0.key < $1.key }.map { company, data in
            AdvertisingStructure(.manufacturerData, company.gattBytes + data)
        }
        structures += serviceData.sorted { $0.key < $1.key }.map { service, data in
            let uuid = service.littleEndianBytes
            let type: AdvertisingStructure.DataType =
                switch uuid.count {
                case 2: .serviceData16
                case 4: .serviceData32
                default: .serviceData128
                }
            return AdvertisingStructure(type, uuid + data)
        }
        if let appearance {
            structures.append(AdvertisingStructure(.appearance, appearance.gattBytes))
        }
        structures.append(AdvertisingStructure(.flags, [isDiscoverable ? 0x06 : 0x04]))
        return structures
    }

    private var serviceStructures: [AdvertisingStructure] {
        let types: [(Int, AdvertisingStructure.DataType)] = [
            (2, .services16), (4, .services32), (16, .services128),
        ]
        return types.compactMap { count, type in
            let uuids = services.map(\.littleEndianBytes).filter { $0.count == count }
            return uuids.isEmpty ? nil : AdvertisingStructure(type, uuids.flatMap(\.self))
        }
    }

    /// The name as the scan response holds it: whole, or cut between two characters.
    private func nameStructures(fitting capacity: Int) -> [AdvertisingStructure] {
        guard let localName, !localName.isEmpty else { return [] }
        let room = max(0, capacity - 2)
        if localName.utf8.count <= room {
            return [AdvertisingStructure(.completeLocalName, Array(localName.utf8))]
        }
        var shortened = localName.unicodeScalars[...]
        while shortened.reduce(0, { $0 + UTF8.width($1) }) > room {
            shortened.removeLast()
        }
        return [AdvertisingStructure(.shortenedLocalName, Array(String(shortened).utf8))]
    }

    /// Divides the payload within a budget.
    ///
    /// - Throws: ``AdvertisingBudgetError`` when the advertising data is too long.
    public func encoded(
        within budget: AdvertisingBudget = .legacy
    ) throws(AdvertisingBudgetError) -> EncodedAdvertisement {
        let structures = advertisingStructures
        let size = structures.reduce(0) { $0 + $1.encodedCount }
        guard size <= budget.advertisingData else {
            throw AdvertisingBudgetError(size: size, budget: budget.advertisingData, structures: structures)
        }
        return EncodedAdvertisement(
            advertisingData: structures,
            scanResponse: nameStructures(fitting: budget.scanResponse)
        )
    }
}

/// How many bytes fit.
public struct AdvertisingBudget: Hashable, Sendable {
    /// The most bytes of advertising data.
    public var advertisingData: Int
    /// The most bytes of scan response.
    public var scanResponse: Int

    /// Makes a budget.
    public init(advertisingData: Int, scanResponse: Int) {
        self.advertisingData = advertisingData
        self.scanResponse = scanResponse
    }

    /// Legacy advertising, which every central hears: 31 bytes each (Core Specification, Vol 6, Part B, 2.3.1).
    public static let legacy = AdvertisingBudget(advertisingData: 31, scanResponse: 31)
}

/// An advertisement as it is on the air.
public struct EncodedAdvertisement: Hashable, Sendable {
    /// What every scanner hears.
    public var advertisingData: [AdvertisingStructure]
    /// What a scanner gets that asks for more.
    public var scanResponse: [AdvertisingStructure]
}

/// What is to be advertised does not fit.
public struct AdvertisingBudgetError: Error, Hashable, Sendable, CustomStringConvertible {
    /// How many bytes there would be.
    public let size: Int
    /// How many bytes fit.
    public let budget: Int
    /// What takes them.
    public let structures: [AdvertisingStructure]

    /// What happened, with the bytes that each part takes.
    public var description: String {
        let parts = structures.map { "\($0.type.name) \($0.encodedCount)" }
        return "it has \(size) bytes of advertising data, \(size - budget) more than fit ("
            + parts.joined(separator: ", ") + ")"
    }
}

extension AdvertisingStructure.DataType {
    fileprivate var name: String {
        switch self {
        case .flags: "flags"
        case .services16, .services32, .services128: "services"
        case .serviceData16, .serviceData32, .serviceData128: "service data"
        case .manufacturerData: "manufacturer data"
        case .appearance: "appearance"
        default: "type \(rawValue)"
        }
    }
}
