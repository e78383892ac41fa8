/// The advertising structures of one advertising packet or one scan response.
///
/// The format of advertising data is defined in Core Specification Vol 3, Part C, section 11.
public struct AdvertisingData: Hashable, Sendable {
    /// The advertising structures, in transmission order.
    public var structures: [AdvertisingStructure]

    /// Creates advertising data from a list of structures.
    public init(_ structures: [AdvertisingStructure] = []) {
        self.structures = structures
    }

    /// Decodes advertising structures from transmitted bytes.
    ///
    /// The decoder stops at a structure of length 0, as the specification requires. The decoder also stops at
    /// a structure that is longer than the remaining bytes. The result contains the complete structures that
    /// the decoder reads before it stops.
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

    /// The number of bytes that the device transmits for the structures.
    public var byteCount: Int {
        structures.reduce(0) { $0 + $1.byteCount }
    }

    /// The bytes that the device transmits, without padding.
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

    /// The data of the first structure of the given type, or `nil` for none.
    public subscript(type: AdvertisingStructure.DataType) -> [UInt8]? {
        structures.first { $0.type == type }?.data
    }
}
