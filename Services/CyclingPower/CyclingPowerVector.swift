public import PeripheralKit
public import PeripheralSensorLocation

/// The forces or torques that a sensor measures while the crank turns.
///
/// This type represents the value of the Cycling Power Vector characteristic, 0x2A64 (Cycling Power Service
/// 1.1, section 3.5). The method ``CyclingPowerService/notify(vector:in:)`` sends a long vector in several
/// notifications.
public struct CyclingPowerVector: Equatable, Sendable {
    /// The direction in which the sensor measures the forces or torques.
    public struct Direction: Equatable, Sendable {
        /// The direction, encoded in two bits.
        public let rawValue: UInt8

        /// Creates a direction from the two lowest bits of a byte.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue & 0x3
        }

        /// The direction is unknown.
        public static let unknown = Direction(rawValue: 0)
        /// The tangential direction: along the circular path of the crank.
        public static let tangential = Direction(rawValue: 1)
        /// The radial direction: along the crank.
        public static let radial = Direction(rawValue: 2)
        /// The lateral direction: across the bicycle.
        public static let lateral = Direction(rawValue: 3)
    }

    /// The forces or torques, measured at equal time intervals.
    ///
    /// The unit of forces is the newton. The unit of torques is 1/32 newton meter.
    public var magnitudes: [Int16]
    /// Whether the vector contains torques instead of forces.
    public var isOfTorques: Bool
    /// The revolutions of the crank.
    public var crank: CrankRevolutions?
    /// The crank angle at the first force or torque, in steps of 1 degree.
    public var firstAngle: UInt16?
    /// The direction in which the sensor measures the forces or torques.
    public var direction: Direction

    /// Creates a vector of forces in newtons.
    ///
    /// - Parameters:
    ///   - forces: The measured forces.
    ///   - crank: The revolutions of the crank.
    ///   - firstAngle: The crank angle at the first force or torque, in degrees.
    ///   - direction: The direction in which the sensor measures the forces or torques.
    public init(
        forces: [Int16] = [],
        crank: CrankRevolutions? = nil,
        firstAngle: UInt16? = nil,
        direction: Direction = .unknown
    ) {
        magnitudes = forces
        isOfTorques = false
        self.crank = crank
        self.firstAngle = firstAngle
        self.direction = direction
    }

    /// Creates a vector of torques in units of 1/32 newton meter.
    ///
    /// - Parameters:
    ///   - torques: The measured torques.
    ///   - crank: The revolutions of the crank.
    ///   - firstAngle: The crank angle at the first force or torque, in degrees.
    ///   - direction: The direction in which the sensor measures the forces or torques.
    public init(
        torques: [Int16],
        crank: CrankRevolutions? = nil,
        firstAngle: UInt16? = nil,
        direction: Direction = .unknown
    ) {
        self.init(forces: torques, crank: crank, firstAngle: firstAngle, direction: direction)
        isOfTorques = true
    }
}

extension CyclingPowerVector: GATTValue {
    private static let hasCrank: UInt8 = 1 << 0
    private static let hasFirstAngle: UInt8 = 1 << 1
    private static let hasForces: UInt8 = 1 << 2
    private static let hasTorques: UInt8 = 1 << 3

    /// Decodes a vector and ignores reserved flags.
    ///
    /// - Throws: `GATTDecodingError` if the bytes are invalid, for example if the flags for forces and
    ///   torques are both set.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        crank = flags & Self.hasCrank != 0 ? try CrankRevolutions(decoding: &reader) : nil
        firstAngle = flags & Self.hasFirstAngle != 0 ? try reader.read() : nil
        direction = Direction(rawValue: flags >> 4)
        isOfTorques = flags & Self.hasTorques != 0
        guard !isOfTorques || flags & Self.hasForces == 0 else {
            throw .invalidValue("the vector contains both forces and torques")
        }
        magnitudes = []
        guard flags & (Self.hasForces | Self.hasTorques) != 0 else { return }
        while !reader.isAtEnd { magnitudes.append(try reader.read()) }
        if magnitudes.isEmpty { isOfTorques = false }
    }

    /// Appends the flags, the crank revolutions, the crank angle, and the forces or torques.
    ///
    /// The crank revolutions and the crank angle together occupy at most 6 bytes. Each force or torque
    /// occupies 2 bytes.
    public func encode(into writer: inout ByteWriter) {
        var flags = direction.rawValue << 4
        if crank != nil { flags |= Self.hasCrank }
        if firstAngle != nil { flags |= Self.hasFirstAngle }
        if !magnitudes.isEmpty { flags |= isOfTorques ? Self.hasTorques : Self.hasForces }
        writer.write(flags)
        if let crank { crank.encode(into: &writer) }
        if let firstAngle { writer.write(firstAngle) }
        for value in magnitudes { writer.write(value) }
    }

    /// Removes and returns the first part, of at most the given length.
    ///
    /// The remaining value has the other magnitudes, but no crank and no angle.
    mutating func removePart(upTo length: Int) -> CyclingPowerVector {
        // One value has at most 9 magnitudes, even if more fit (GATT Specification Supplement, Cycling Power
        // Vector).
        let room = min((length - 1 - (crank == nil ? 0 : 4) - (firstAngle == nil ? 0 : 2)) / 2, 9)
        var part = self
        part.magnitudes = Array(magnitudes.prefix(room))
        magnitudes.removeFirst(min(room, magnitudes.count))
        crank = nil
        firstAngle = nil
        return part
    }
}
