public import PeripheralKit
public import PeripheralSensorLocation

/// A request that a central writes to the Cycling Power Control Point, 0x2A66.
///
/// Cycling Power Service 1.1, section 3.4, defines the request. Any request of at least one byte can be
/// decoded. The service answers an unknown request with a response.
public struct CyclingPowerRequest: Equatable, Sendable {
    /// The requested operation.
    public var operation: CyclingPowerOperation

    /// The parameter of the operation.
    public var parameter: [UInt8]

    /// Creates a request from its parts.
    ///
    /// Requests that the specification does not define are allowed.
    public init(operation: CyclingPowerOperation, parameter: [UInt8] = []) {
        self.operation = operation
        self.parameter = parameter
    }

    /// Sets the count of the wheel's revolutions.
    public static func setWheelRevolutions(_ count: UInt32) -> CyclingPowerRequest {
        CyclingPowerRequest(operation: .setCumulativeValue, parameter: count.gattBytes)
    }

    /// Sets the location of the sensor.
    public static func updateSensorLocation(_ location: SensorLocation) -> CyclingPowerRequest {
        CyclingPowerRequest(operation: .updateSensorLocation, parameter: [location.rawValue])
    }

    /// Turns off the given values of the measurements, and turns on all other values.
    ///
    /// - Parameters:
    ///   - content: The values to turn off.
    ///   - wheelRevolutions: Whether to turn off the revolutions of the wheel as well.
    /// - Returns: The request.
    public static func mask(
        _ content: CyclingPowerMeasurement.Content,
        wheelRevolutions: Bool = false
    ) -> CyclingPowerRequest {
        let bits = content.rawValue | (wheelRevolutions ? CyclingPowerMeasurement.Content.wheel : 0)
        return CyclingPowerRequest(operation: .maskMeasurementContent, parameter: bits.gattBytes)
    }
}

extension CyclingPowerRequest: GATTValue {
    /// Reads the operation, and uses the remaining bytes as the parameter.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        operation = CyclingPowerOperation(rawValue: try reader.read())
        parameter = reader.readRemaining()
    }

    /// Appends the operation and the parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write(operation.rawValue)
        writer.write(parameter)
    }
}

/// An operation of the Cycling Power Control Point: its op code.
public struct CyclingPowerOperation: Equatable, Sendable {
    /// The encoded op code.
    public var rawValue: UInt8

    /// Creates an operation.
    ///
    /// Operations that the specification does not define are allowed.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Sets the count of the wheel's revolutions.
    public static let setCumulativeValue = CyclingPowerOperation(rawValue: 0x01)
    /// Sets the location of the sensor.
    public static let updateSensorLocation = CyclingPowerOperation(rawValue: 0x02)
    /// Requests the supported locations of the sensor.
    public static let requestSupportedSensorLocations = CyclingPowerOperation(rawValue: 0x03)
    /// Sets the length of the crank.
    public static let setCrankLength = CyclingPowerOperation(rawValue: 0x04)
    /// Requests the length of the crank.
    public static let requestCrankLength = CyclingPowerOperation(rawValue: 0x05)
    /// Sets the length of the chain.
    public static let setChainLength = CyclingPowerOperation(rawValue: 0x06)
    /// Requests the length of the chain.
    public static let requestChainLength = CyclingPowerOperation(rawValue: 0x07)
    /// Sets the weight of the chain.
    public static let setChainWeight = CyclingPowerOperation(rawValue: 0x08)
    /// Requests the weight of the chain.
    public static let requestChainWeight = CyclingPowerOperation(rawValue: 0x09)
    /// Sets the length of the span.
    public static let setSpanLength = CyclingPowerOperation(rawValue: 0x0A)
    /// Requests the length of the span.
    public static let requestSpanLength = CyclingPowerOperation(rawValue: 0x0B)
    /// Compensates the offset.
    public static let startOffsetCompensation = CyclingPowerOperation(rawValue: 0x0C)
    /// Turns off some values of the measurements.
    public static let maskMeasurementContent = CyclingPowerOperation(rawValue: 0x0D)
    /// Requests the sampling rate of the sensor.
    public static let requestSamplingRate = CyclingPowerOperation(rawValue: 0x0E)
    /// Requests the date of the factory calibration.
    public static let requestFactoryCalibrationDate = CyclingPowerOperation(rawValue: 0x0F)
    /// Compensates the offset, and requests manufacturer data.
    public static let startEnhancedOffsetCompensation = CyclingPowerOperation(rawValue: 0x10)
}

/// The response that the Cycling Power Control Point indicates to a request.
///
/// Cycling Power Service 1.1, section 3.4, defines the response.
public struct CyclingPowerResponse: Equatable, Sendable {
    /// The requested operation.
    public var operation: CyclingPowerOperation

    /// The result of the request.
    public var result: SensorControlResult

    /// The encoded values that the central has requested.
    public var parameter: [UInt8]

    /// Creates a response.
    public init(
        _ result: SensorControlResult,
        to operation: CyclingPowerOperation,
        parameter: [UInt8] = []
    ) {
        self.operation = operation
        self.result = result
        self.parameter = parameter
    }
}

extension CyclingPowerResponse: GATTValue {
    private static let responseCode: UInt8 = 0x20

    /// Reads a response.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let code: UInt8 = try reader.read()
        guard code == Self.responseCode else { throw .invalidValue("\(code) is not a response code") }
        operation = CyclingPowerOperation(rawValue: try reader.read())
        result = SensorControlResult(rawValue: try reader.read())
        parameter = reader.readRemaining()
    }

    /// Appends three bytes and the parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write([Self.responseCode, operation.rawValue, result.rawValue])
        writer.write(parameter)
    }
}
