internal import PeripheralKit

/// The power supply and the charging state of a battery.
///
/// `BatteryPowerState` represents the Power State field of the Battery Level Status characteristic (Battery
/// Service 1.1, section 3.2).
public struct BatteryPowerState: Hashable, Sendable {
    /// Whether an external power source is connected.
    public enum ExternalPower: UInt16, Hashable, Sendable, CaseIterable {
        /// No external power source is connected.
        case notConnected = 0
        /// An external power source is connected.
        case connected
        /// The device does not know whether an external power source is connected.
        case unknown
    }

    /// Whether the battery is being charged.
    public enum Charge: UInt16, Hashable, Sendable, CaseIterable {
        /// The device does not know whether the battery is being charged.
        case unknown = 0
        /// The battery is being charged.
        case charging
        /// The battery is in use, and is losing charge.
        case activelyDischarging
        /// The battery is idle, but is losing charge.
        case inactivelyDischarging
    }

    /// The charge level of the battery, rated from good to critically low.
    public enum ChargeLevel: UInt16, Hashable, Sendable, CaseIterable {
        /// The device does not know the charge level.
        case unknown = 0
        /// The charge level is good.
        case good
        /// The charge level is low.
        case low
        /// The charge level is critically low.
        case critical
    }

    /// The charging method of the battery.
    public enum ChargingType: UInt16, Hashable, Sendable, CaseIterable {
        /// The charging method is unknown, or the battery is not being charged.
        case unknown = 0
        /// Charging with a constant current.
        case constantCurrent
        /// Charging with a constant voltage.
        case constantVoltage
        /// Trickle charging: a small current compensates for self-discharge.
        case trickle
        /// Float charging: a constant low voltage compensates for self-discharge.
        case float
    }

    /// The faults that prevent the battery from charging.
    public struct ChargingFault: OptionSet, Hashable, Sendable {
        /// The encoded faults.
        public var rawValue: UInt16

        /// Creates a set of charging faults.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The battery has a fault.
        public static let battery = ChargingFault(rawValue: 1 << 0)
        /// The external power source has a fault.
        public static let externalPower = ChargingFault(rawValue: 1 << 1)
        /// The fault is neither in the battery nor in the external power source.
        public static let other = ChargingFault(rawValue: 1 << 2)
    }

    /// Whether the battery is present.
    public var isPresent: Bool
    /// Whether a wired power source is connected.
    public var wiredPower: ExternalPower
    /// Whether a wireless power source is connected.
    public var wirelessPower: ExternalPower
    /// Whether the battery is being charged.
    public var charge: Charge
    /// The charge level of the battery, rated from good to critically low.
    public var chargeLevel: ChargeLevel
    /// The charging method of the battery.
    public var chargingType: ChargingType
    /// The faults that prevent the battery from charging.
    public var chargingFault: ChargingFault

    /// Creates a state.
    ///
    /// - Parameters:
    ///   - isPresent: Whether the battery is present.
    ///   - wiredPower: Whether a wired power source is connected.
    ///   - wirelessPower: Whether a wireless power source is connected.
    ///   - charge: Whether the battery is being charged.
    ///   - chargeLevel: The charge level of the battery, rated from good to critically low.
    ///   - chargingType: The charging method of the battery.
    ///   - chargingFault: The faults that prevent the battery from charging.
    public init(
        isPresent: Bool = true,
        wiredPower: ExternalPower = .notConnected,
        wirelessPower: ExternalPower = .notConnected,
        charge: Charge = .unknown,
        chargeLevel: ChargeLevel = .unknown,
        chargingType: ChargingType = .unknown,
        chargingFault: ChargingFault = []
    ) {
        self.isPresent = isPresent
        self.wiredPower = wiredPower
        self.wirelessPower = wirelessPower
        self.charge = charge
        self.chargeLevel = chargeLevel
        self.chargingType = chargingType
        self.chargingFault = chargingFault
    }

    init(bits: UInt16) throws(GATTDecodingError) {
        isPresent = bits & 1 != 0
        guard let wiredPower = ExternalPower(rawValue: bits >> 1 & 0x3),
            let wirelessPower = ExternalPower(rawValue: bits >> 3 & 0x3),
            let charge = Charge(rawValue: bits >> 5 & 0x3),
            let chargeLevel = ChargeLevel(rawValue: bits >> 7 & 0x3),
            let chargingType = ChargingType(rawValue: bits >> 9 & 0x7)
        else {
            throw .invalidValue("the power state \(bits) contains a reserved value")
        }
        self.wiredPower = wiredPower
        self.wirelessPower = wirelessPower
        self.charge = charge
        self.chargeLevel = chargeLevel
        self.chargingType = chargingType
        chargingFault = ChargingFault(rawValue: bits >> 12 & 0x7)
    }

    var bits: UInt16 {
        var bits: UInt16 = isPresent ? 1 : 0
        bits |= wiredPower.rawValue << 1
        bits |= wirelessPower.rawValue << 3
        bits |= charge.rawValue << 5
        bits |= chargeLevel.rawValue << 7
        bits |= chargingType.rawValue << 9
        bits |= (chargingFault.rawValue & 0x7) << 12
        return bits
    }
}

/// The condition of a battery, for example whether the battery needs service.
///
/// `BatteryCondition` represents the Additional Status field of the Battery Level Status characteristic
/// (Battery Service 1.1, section 3.2).
public struct BatteryCondition: Hashable, Sendable {
    /// Whether the battery needs service, such as replacement.
    ///
    /// The property is `nil` if the device does not know whether the battery needs service.
    public var needsService: Bool?
    /// Whether the battery is faulty.
    public var isFaulty: Bool

    /// Creates a condition.
    ///
    /// - Parameters:
    ///   - needsService: Whether the battery needs service. Use `nil` if the device does not know whether the
    ///     battery needs service.
    ///   - isFaulty: Whether the battery is faulty.
    public init(needsService: Bool?, isFaulty: Bool = false) {
        self.needsService = needsService
        self.isFaulty = isFaulty
    }

    init(bits: UInt8) throws(GATTDecodingError) {
        switch bits & 0x3 {
        case 0: needsService = false
        case 1: needsService = true
        case 2: needsService = nil
        default: throw .invalidValue("Service Required is reserved in the additional status \(bits)")
        }
        isFaulty = bits & 1 << 2 != 0
    }

    var bits: UInt8 {
        let service: UInt8 =
            switch needsService {
            case false: 0
            case true: 1
            case nil: 2
            }
        return service | (isFaulty ? 1 << 2 : 0)
    }
}
