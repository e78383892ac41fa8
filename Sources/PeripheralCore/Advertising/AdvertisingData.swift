/// The content of one advertising packet or scan response: a list of typed structures.
///
/// The format is defined in Core Specification Vol 3, Part C, 11.
public struct AdvertisingData: Hashable, Sendable {
    /// The structures, in the order in which they are sent.
    public var structures: [AdvertisingStructure]

    /// Creates data from structures.
    public init(_ structures: [AdvertisingStructure] = []) {
        self.structures = structures
    }

    /// Decodes the structures from bytes on the air.
    ///
    /// A structure of length 0 ends the data, as the specification requires. A structure that is longer than
    /// the remaining bytes also ends the data. The result contains every complete structure.
    public init(decoding bytes: [UInt8]) {
        structures = []
        var rest = bytes[...]
        while let length = rest.popFirst(), length > 0, Int(length) <= rest.count {
            let content = rest.prefix(Int(length))
            rest = rest.dropFirst(Int(length))
            if let type = content.first,
                let structure = AdvertisingStructure(.init(rawValue: type), Array(content.dropFirst()))
            {
                structures.append(structure)
            }
        }
    }

    /// The number of bytes that the structures occupy on the air.
    public var byteCount: Int {
        structures.reduce(0) { $0 + $1.byteCount }
    }

    /// The bytes on the air, without padding.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(byteCount)
        for structure in structures {
            bytes.append(UInt8(structure.data.count + 1))
            bytes.append(structure.type.rawValue)
            bytes += structure.data
        }
        return bytes
    }

    /// The data of the first structure with this type.
    public subscript(type: AdvertisingStructure.DataType) -> [UInt8]? {
        structures.first { $0.type == type }?.data
    }
}
