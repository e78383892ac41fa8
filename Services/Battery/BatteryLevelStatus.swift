public import PeripheralKit

/// The power supply, the charge and the condition of a battery.
///
/// `BatteryLevelStatus` represents the value of the Battery Level Status characteristic, 0x2BED (Battery
/// Service 1.1, section 3.2).
///
/// ```swift
/// BatteryLevelStatus(.init(wiredPower: .connected, charge: .charging, chargeLevel: .good))
/// ```
public struct BatteryLevelStatus: Hashable, Sendable {
    /// The power supply and the charging state of the battery.
    public var power: BatteryPowerState

    /// An identifier that distinguishes a replaceable battery from other batteries.
    public var identifier: UInt16?

    /// The charge level of the battery.
    public var level: BatteryLevel?

    /// The condition of the battery, for example whether the battery needs service.
    ///
    /// The property is `nil` if the device does not report the condition of the battery.
    public var condition: BatteryCondition?

    /// Creates a status.
    ///
    /// - Parameters:
    ///   - power: The power supply and the charging state of the battery.
    ///   - identifier: An identifier that distinguishes the battery from other batteries.
    ///   - level: The charge level of the battery.
    ///   - condition: The condition of the battery, for example whether the battery needs service.
    public init(
        _ power: BatteryPowerState,
        identifier: UInt16? = nil,
        level: BatteryLevel? = nil,
        condition: BatteryCondition? = nil
    ) {
        self.power = power
        self.identifier = identifier
        self.level = level
        self.condition = condition
    }
}

extension BatteryLevelStatus: GATTValue {
    private static let identifierFlag: UInt8 = 1 << 0
    private static let levelFlag: UInt8 = 1 << 1
    private static let conditionFlag: UInt8 = 1 << 2

    /// Reads a battery level status, and ignores reserved flags.
    ///
    /// - Throws: `GATTDecodingError` if the bytes are incomplete, or if a field contains a reserved value.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let flags: UInt8 = try reader.read()
        power = try BatteryPowerState(bits: try reader.read())
        identifier = flags & Self.identifierFlag == 0 ? nil : try reader.read()
        level = flags & Self.levelFlag == 0 ? nil : try BatteryLevel(decoding: &reader)
        condition = flags & Self.conditionFlag == 0 ? nil : try BatteryCondition(bits: try reader.read())
    }

    /// Appends the encoded status, which is at most 7 bytes long.
    ///
    /// The order of the fields is: flags, power state, optional fields.
    public func encode(into writer: inout ByteWriter) {
        var flags: UInt8 = 0
        if identifier != nil { flags |= Self.identifierFlag }
        if level != nil { flags |= Self.levelFlag }
        if condition != nil { flags |= Self.conditionFlag }
        writer.write(flags)
        writer.write(power.bits)
        if let identifier { writer.write(identifier) }
        level?.encode(into: &writer)
        if let condition { writer.write(condition.bits) }
    }
}
