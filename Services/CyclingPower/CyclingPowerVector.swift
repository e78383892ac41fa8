public import PeripheralKit
public import PeripheralSensorControl

/// The forces or torques at a crank while it turns: the value of the Cycling Power Vector, 0x2A64 (Cycling Power Service
/// 1.1, section 3.5).
///
/// More magnitudes than fit one notification are sent in several by ``CyclingPowerService/notify(vector:in:)``.
public struct CyclingPowerVector: Hashable, Sendable {
    /// In which direction the magnitudes are measured.
    public enum Direction: UInt8, Hashable, Sendable {
        /// Not known.
        case unknown = 0
        /// Along the crank's circle.
        case tangential = 1
        /// Along the crank.
        case radial = 2
        /// Across the bicycle.
        case lateral = 3
    }

    /// What is measured, at equal distances of time.
    public enum Magnitudes: Hashable, Sendable {
        /// Forces in newtons.
        case forces([Int16])
        /// Torques in units of 1/32 newton meter.
        case torques([Int16])
    }

    /// How often the crank has turned.
    public var crank: CrankRevolutions?
    /// The crank's angle at the first of the magnitudes in degrees, in steps of 1.
    public var firstAngle: UInt16?
    /// What was measured; `nil` for nothing.
    public var magnitudes: Magnitudes?
    /// In which direction.
    public var direction: Direction

    /// Makes a vector.
    ///
    /// - Parameters:
    ///   - magnitudes: What was measured.
    ///   - crank: How often the crank has turned.
    ///   - firstAngle: The crank's angle at the first of the magnitudes in degrees.
    ///   - direction: In which direction the magnitudes are measured.
    public init(
        _ magnitudes: Magnitudes?,
        crank: CrankRevolutions? = nil,
        firstAngle: UInt16? = nil,
        direction: Direction = .unknown
    ) {
        self.magnitudes = magnitudes
        self.crank = crank
        self.firstAngle = firstAngle
        self.direction = direction
    }
}

extension CyclingPowerVector: GATTValue {
    private static let hasCrank: UInt8 = 1 << 0
    private static let hasFirstAngle: UInt8 = 1 << 1
    private static let hasForces: UInt8 = 1 << 2
    private static let hasTorques: UInt8 = 1 << 3

    /// Reads a vector; flags that are reserved are ignored.
    ///
    /// - Throws: `GATTDecodingError` also when there are both forces and torques, which cannot be told apart.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        crank = flags & Self.hasCrank != 0 ? try CrankRevolutions(decoding: &reader) : nil
        firstAngle = flags & Self.hasFirstAngle != 0 ? try reader.read() : nil
        direction = Direction(rawValue: flags >> 4 & 0x3) ?? .unknown
        let kinds = flags & (Self.hasForces | Self.hasTorques)
        guard kinds != 0 else { return }
        var values: [Int16] = []
        while !reader.isAtEnd { values.append(try reader.read()) }
        switch kinds {
        case Self.hasForces: magnitudes = .forces(values)
        case Self.hasTorques: magnitudes = .torques(values)
        default: throw .invalidValue("there are both forces and torques")
        }
    }

    /// Appends the flags, what there is of crank and angle in at most 6 bytes, and 2 bytes for each magnitude.
    public func encode(into writer: inout ByteWriter) {
        var flags = direction.rawValue << 4
        if crank != nil { flags |= Self.hasCrank }
        if firstAngle != nil { flags |= Self.hasFirstAngle }
        switch magnitudes {
        case .forces: flags |= Self.hasForces
        case .torques: flags |= Self.hasTorques
        case nil: break
        }
        writer.write(flags)
        if let crank { crank.encode(into: &writer) }
        if let firstAngle { writer.write(firstAngle) }
        for value in values { writer.write(value) }
    }

    private var values: [Int16] {
        switch magnitudes {
        case .forces(let values), .torques(let values): values
        case nil: []
        }
    }

    /// The vector in parts that fit: crank and angle are in the first.
    func parts(upTo length: Int) -> [CyclingPowerVector] {
        var rest = values[...]
        var part = self
        var parts: [CyclingPowerVector] = []
        var room = (length - 1 - (crank == nil ? 0 : 4) - (firstAngle == nil ? 0 : 2)) / 2
        repeat {
            let some = Array(rest.prefix(room))
            switch magnitudes {
            case .forces: part.magnitudes = .forces(some)
            case .torques: part.magnitudes = .torques(some)
            case nil: break
            }
            parts.append(part)
            rest = rest.dropFirst(room)
            part.crank = nil
            part.firstAngle = nil
            room = (length - 1) / 2
        } while !rest.isEmpty
        return parts
    }
}
