internal import PeripheralKit

/// How a battery is powered and charged: the Power State of the Battery Level Status (Battery Service 1.1, section 3.2).
public struct BatteryPowerState: Hashable, Sendable {
    /// Whether there is power from outside.
    public enum ExternalPower: UInt16, Hashable, Sendable, CaseIterable {
        /// There is none.
        case notConnected = 0
        /// There is.
        case connected
        /// The device cannot tell.
        case unknown
    }

    /// Whether the battery is being charged.
    public enum Charge: UInt16, Hashable, Sendable, CaseIterable {
        /// The device cannot tell.
        case unknown = 0
        /// It is being charged.
        case charging
        /// It is in use.
        case activelyDischarging
        /// It is not in use, and loses charge by itself.
        case inactivelyDischarging
    }

    /// How urgently the battery needs charge.
    public enum ChargeLevel: UInt16, Hashable, Sendable, CaseIterable {
        /// The device cannot tell.
        case unknown = 0
        /// Not at all.
        case good
        /// It is low.
        case low
        /// It is critically low.
        case critical
    }

    /// How the battery is being charged.
    public enum ChargingType: UInt16, Hashable, Sendable, CaseIterable {
        /// The device cannot tell, or the battery is not being charged.
        case unknown = 0
        /// With a constant current.
        case constantCurrent
        /// With a constant voltage.
        case constantVoltage
        /// With a trickle, as much as the battery loses.
        case trickle
        /// With a constant low voltage, as much as the battery loses.
        case float
    }

    /// What keeps the battery from being charged.
    public struct ChargingFault: OptionSet, Hashable, Sendable {
        /// The faults as they are on the air.
        public var rawValue: UInt16

        /// Makes a set of faults.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// The battery.
        public static let battery = ChargingFault(rawValue: 1 << 0)
        /// The power from outside.
        public static let externalPower = ChargingFault(rawValue: 1 << 1)
        /// Something else.
        public static let other = ChargingFault(rawValue: 1 << 2)
    }

    /// Whether the battery is there.
    public var isPresent: Bool
    /// Whether there is power by wire.
    public var wiredPower: ExternalPower
    /// Whether there is power without a wire.
    public var wirelessPower: ExternalPower
    /// Whether the battery is being charged.
    public var charge: Charge
    /// How urgently the battery needs charge.
    public var chargeLevel: ChargeLevel
    /// How the battery is being charged.
    public var chargingType: ChargingType
    /// What keeps the battery from being charged.
    public var chargingFault: ChargingFault

    /// Makes a state.
    ///
    /// - Parameters:
    ///   - isPresent: Whether the battery is there.
    ///   - wiredPower: Whether there is power by wire.
    ///   - wirelessPower: Whether there is power without a wire.
    ///   - charge: Whether the battery is being charged.
    ///   - chargeLevel: How urgently the battery needs charge.
    ///   - chargingType: How the battery is being charged.
    ///   - chargingFault: What keeps the battery from being charged.
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
            throw .invalidValue("a part of the power state \(bits) is reserved")
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

/// Whether a battery needs somebody: the Additional Status of the Battery Level Status (Battery Service 1.1, section 3.2).
public struct BatteryCondition: Hashable, Sendable {
    /// Whether the battery has to be looked after, such as to be exchanged; `nil` when the device cannot tell.
    public var needsService: Bool?
    /// Whether the battery is faulty.
    public var isFaulty: Bool

    /// Makes a condition.
    ///
    /// - Parameters:
    ///   - needsService: Whether the battery has to be looked after; `nil` when the device cannot tell.
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
        default: throw .invalidValue("whether service is required is reserved in \(bits)")
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
