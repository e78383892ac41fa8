/// A property of the bicycle that the sensor uses, and that centrals read and set.
///
/// Centrals read and set the value through the control point (Cycling Power Service 1.1, sections 3.4.2.4
/// through 3.4.2.11).
///
/// The program stores the value. If the `set` handler throws, the central's request fails. Throw
/// `SensorControlResult.invalidParameter` for a value outside the sensor's range.
public struct CyclingPowerSetting: Sendable {
    /// The op code that sets the value; the next op code requests the value.
    let setCode: UInt8
    let stepsPerUnit: Double
    let get: @Sendable () async throws -> Double
    let set: @Sendable (Double) async throws -> Void

    /// The length of the crank in millimeters, 0 to 32,767.5 in steps of 0.5.
    public static func crankLength(
        get: @escaping @Sendable () async throws -> Double,
        set: @escaping @Sendable (_ millimeters: Double) async throws -> Void
    ) -> CyclingPowerSetting {
        CyclingPowerSetting(setCode: 0x04, stepsPerUnit: 2, get: get, set: set)
    }

    /// The length of the chain in millimeters, 0 to 65,535 in steps of 1.
    public static func chainLength(
        get: @escaping @Sendable () async throws -> Double,
        set: @escaping @Sendable (_ millimeters: Double) async throws -> Void
    ) -> CyclingPowerSetting {
        CyclingPowerSetting(setCode: 0x06, stepsPerUnit: 1, get: get, set: set)
    }

    /// The weight of the chain in grams, 0 to 65,535 in steps of 1.
    public static func chainWeight(
        get: @escaping @Sendable () async throws -> Double,
        set: @escaping @Sendable (_ grams: Double) async throws -> Void
    ) -> CyclingPowerSetting {
        CyclingPowerSetting(setCode: 0x08, stepsPerUnit: 1, get: get, set: set)
    }

    /// The length of the span in millimeters, 0 to 65,535 in steps of 1.
    ///
    /// The sensor measures the chain over the span.
    public static func spanLength(
        get: @escaping @Sendable () async throws -> Double,
        set: @escaping @Sendable (_ millimeters: Double) async throws -> Void
    ) -> CyclingPowerSetting {
        CyclingPowerSetting(setCode: 0x0A, stepsPerUnit: 1, get: get, set: set)
    }

    /// The feature bit: 12 through 15, in the order of the op codes.
    var feature: CyclingPowerFeature {
        CyclingPowerFeature(rawValue: 1 << (12 + UInt32(setCode - 0x04) / 2))
    }
}

/// The compensation of a sensor's offset.
///
/// The offset is the value that the sensor measures without a load. The sensor measures loads relative to the
/// offset.
public struct CyclingPowerOffsetCompensation: Sendable {
    /// The result of a compensation.
    public struct Offset: Sendable {
        /// The force or torque without a load.
        ///
        /// The value is in newtons, −32,768 to 32,767 in steps of 1. For a sensor that measures torques, the
        /// value is in newton meters, −1024 to 1023.96875 in steps of 1/32.
        public var value: Double

        /// The manufacturer data, of which at most 12 bytes are sent to a requesting central.
        public var data: [UInt8]

        /// Creates an offset with manufacturer data.
        public init(_ value: Double, data: [UInt8] = []) {
            self.value = value
            self.data = data
        }
    }

    /// The reason for a failed compensation, which a handler throws (section 3.4).
    ///
    /// If the handler throws another error, the response contains no reason.
    public enum Failure: Error, Sendable {
        /// The crank is not in the required position.
        case incorrectPosition
        /// A reason defined by the manufacturer, of which at most 13 bytes are sent.
        case ofManufacturer(data: [UInt8])
    }

    let companyID: UInt16?
    let compensate: @Sendable () async throws -> Offset

    /// Describes the compensation of the offset.
    ///
    /// - Parameters:
    ///   - companyID: The company identifier of the manufacturer, for enhanced offset compensation. Centrals
    ///     can then request manufacturer data and the reason for a failure. If `nil`, centrals cannot request
    ///     enhanced offset compensation.
    ///   - compensate: Compensates the offset, or throws ``Failure`` if the compensation fails. Centrals wait
    ///     at most 30 seconds for the result.
    public init(companyID: UInt16? = nil, compensate: @escaping @Sendable () async throws -> Offset) {
        self.companyID = companyID
        self.compensate = compensate
    }
}
