/// A bicycle property that the sensor uses, such as the crank length.
///
/// Centrals read and set the bicycle property through the Cycling Power Control Point (Cycling Power Service
/// 1.1, sections 3.4.2.4 through 3.4.2.11).
///
/// The program stores the value of the setting. If the `set` handler throws an error, the central's request
/// fails. The `set` handler throws `SensorControlResult.invalidParameter` to refuse a value outside the
/// sensor's range.
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

    /// The length of the chain span in millimeters, 0 to 65,535 in steps of 1.
    ///
    /// The chain span is the section of the chain on which the sensor measures.
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

/// The offset compensation of a cycling power sensor.
///
/// The offset is the force or torque that the sensor measures without a load. The sensor uses the offset as
/// the zero point of its measurements.
public struct CyclingPowerOffsetCompensation: Sendable {
    /// The result of an offset compensation.
    public struct Offset: Sendable {
        /// The force or torque that the sensor measures without a load.
        ///
        /// A force ranges from −32,768 to 32,767 newtons in steps of 1. A torque ranges from −1024 to
        /// 1023.96875 newton meters in steps of 1/32.
        public var value: Double

        /// The manufacturer data for the central that requests the offset compensation.
        ///
        /// The service sends at most 12 bytes of manufacturer data.
        public var data: [UInt8]

        /// Creates an offset with manufacturer data.
        public init(_ value: Double, data: [UInt8] = []) {
            self.value = value
            self.data = data
        }
    }

    /// The error that a handler throws to report why an offset compensation failed.
    ///
    /// Cycling Power Service 1.1, section 3.4, defines the reasons for a failure. If the handler throws an
    /// error of a type other than ``Failure``, the response contains no reason.
    public enum Failure: Error, Sendable {
        /// The crank is not in the required position.
        case incorrectPosition
        /// A manufacturer-defined reason for the failure.
        ///
        /// The service sends at most 13 bytes of manufacturer data.
        case ofManufacturer(data: [UInt8])
    }

    let companyID: UInt16?
    let compensate: @Sendable () async throws -> Offset

    /// Describes how the sensor compensates its offset.
    ///
    /// - Parameters:
    ///   - companyID: The company identifier of the manufacturer. If you pass an identifier, centrals can
    ///     request enhanced offset compensation. The response to a request for enhanced offset compensation
    ///     contains manufacturer data or the reason for a failure. If the identifier is `nil`, centrals
    ///     cannot request enhanced offset compensation.
    ///   - compensate: A closure that compensates the sensor's offset. If the compensation fails, the closure
    ///     throws ``Failure``. Centrals wait at most 30 seconds for the result of the compensation.
    public init(companyID: UInt16? = nil, compensate: @escaping @Sendable () async throws -> Offset) {
        self.companyID = companyID
        self.compensate = compensate
    }
}
