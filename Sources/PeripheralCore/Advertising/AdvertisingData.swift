/// What one advertising packet, or one scan response, carries: a list of structures, each a type and its
/// bytes.
///
/// The format is that of Core Specification Vol 3, Part C, 11.
public struct AdvertisingData: Hashable, Sendable {
    /// The structures, in the order of sending.
    public var structures: [AdvertisingStructure]

    /// Creates data of structures.
    public init(_ structures: [AdvertisingStructure] = []) {
        self.structures = structures
    }

    /// Takes the structures out of bytes from the air.
    ///
    /// A structure of length 0 ends the data, as the specification has it. So does one that is longer than
    /// the bytes that are left: what stands before it is taken, the rest is not.
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

    /// How many bytes the structures take on the air.
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

    /// The data of the first structure of a type.
    public subscript(type: AdvertisingStructure.DataType) -> [UInt8]? {
        structures.first { $0.type == type }?.data
    }
}
