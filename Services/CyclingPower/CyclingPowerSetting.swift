/// What a sensor has to know of its bicycle, which centrals read and set by the control point (Cycling Power Service 1.1,
/// sections 3.4.2.4 through 3.4.2.11).
///
/// The program keeps the value. A `set` that throws fails the central's request; it throws
/// `SensorControlResult.invalidParameter` for what is out of the sensor's range.
public struct CyclingPowerSetting: Sendable {
    /// The op code that sets it; that which asks for it is the next.
    let setCode: UInt8
    let stepsPerUnit: Double
    let get: @Sendable () async throws -> Double
    let set: @Sendable (Double) async throws -> Void

    /// The length of the crank in millimeters, 0 to 32 767.5 in steps of 0.5.
    public static func crankLength(
        get: @escaping @Sendable () async throws -> Double,
        set: @escaping @Sendable (_ millimeters: Double) async throws -> Void
    ) -> CyclingPowerSetting {
        CyclingPowerSetting(setCode: 0x04, stepsPerUnit: 2, get: get, set: set)
    }

    /// The length of the chain in millimeters, 0 to 65 535 in steps of 1.
    public static func chainLength(
        get: @escaping @Sendable () async throws -> Double,
        set: @escaping @Sendable (_ millimeters: Double) async throws -> Void
    ) -> CyclingPowerSetting {
        CyclingPowerSetting(setCode: 0x06, stepsPerUnit: 1, get: get, set: set)
    }

    /// The weight of the chain in grams, 0 to 65 535 in steps of 1.
    public static func chainWeight(
        get: @escaping @Sendable () async throws -> Double,
        set: @escaping @Sendable (_ grams: Double) async throws -> Void
    ) -> CyclingPowerSetting {
        CyclingPowerSetting(setCode: 0x08, stepsPerUnit: 1, get: get, set: set)
    }

    /// The length of the span, over which the sensor measures the chain, in millimeters, 0 to 65 535 in steps of 1.
    public static func spanLength(
        get: @escaping @Sendable () async throws -> Double,
        set: @escaping @Sendable (_ millimeters: Double) async throws -> Void
    ) -> CyclingPowerSetting {
        CyclingPowerSetting(setCode: 0x0A, stepsPerUnit: 1, get: get, set: set)
    }

    /// The bit of the Cycling Power Feature: 12 through 15, in the order of the op codes.
    var feature: CyclingPowerFeature {
        CyclingPowerFeature(rawValue: 1 << (12 + UInt32(setCode - 0x04) / 2))
    }
}

/// How a sensor compensates its offset: the value that it measures without a load, from which it counts thereafter.
public struct CyclingPowerOffsetCompensation: Sendable {
    /// What was found.
    public struct Offset: Sendable {
        /// The force without a load in newtons, −32 768 to 32 767 in steps of 1; or, of a sensor that measures torques, the
        /// torque in newton meters, −1024 to 1023.96875 in steps of 1/32.
        public var value: Double

        /// Data of the maker's own, of which 12 bytes are sent when a central has asked for them.
        public var data: [UInt8]

        /// Makes an offset, with data of the maker's own.
        public init(_ value: Double, data: [UInt8] = []) {
            self.value = value
            self.data = data
        }
    }

    /// Why it failed, which a handler throws (section 3.4); what else it throws is told without a reason.
    public enum Failure: Error, Sendable {
        /// The crank is not where it has to be.
        case incorrectPosition
        /// A reason of the maker's own, of which 13 bytes are sent.
        case ofManufacturer(data: [UInt8])
    }

    let companyID: UInt16?
    let compensate: @Sendable () async throws -> Offset

    /// Describes how the offset is compensated.
    ///
    /// - Parameters:
    ///   - companyID: The company identifier of the sensor's maker, with which centrals can ask for the maker's own data and
    ///     for the reason of a failure: the enhanced offset compensation. `nil` to do without.
    ///   - compensate: Compensates the offset; throws ``Failure`` when it cannot. Centrals wait for 30 seconds.
    public init(companyID: UInt16? = nil, compensate: @escaping @Sendable () async throws -> Offset) {
        self.companyID = companyID
        self.compensate = compensate
    }
}
