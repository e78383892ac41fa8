public import PeripheralKit
public import PeripheralSensorLocation

/// A request that a central writes to the Cycling Power Control Point, 0x2A66.
///
/// Cycling Power Service 1.1, section 3.4, defines the requests. Decoding accepts any request of at least one
/// byte. The service responds to an unknown request with the result Op Code Not Supported.
public struct CyclingPowerRequest: Equatable, Sendable {
    /// The requested operation.
    public var operation: CyclingPowerOperation

    /// The encoded parameter of the requested operation.
    public var parameter: [UInt8]

    /// Creates a request from an operation and a parameter.
    ///
    /// The initializer also accepts operations that the Cycling Power Service specification does not define.
    public init(operation: CyclingPowerOperation, parameter: [UInt8] = []) {
        self.operation = operation
        self.parameter = parameter
    }

    /// Returns a request that sets the wheel revolution count.
    public static func setWheelRevolutions(_ count: UInt32) -> CyclingPowerRequest {
        CyclingPowerRequest(operation: .setCumulativeValue, parameter: count.gattBytes)
    }

    /// Returns a request that sets the location of the sensor.
    public static func updateSensorLocation(_ location: SensorLocation) -> CyclingPowerRequest {
        CyclingPowerRequest(operation: .updateSensorLocation, parameter: [location.rawValue])
    }

    /// Returns a request to omit the given values from measurements.
    ///
    /// After the request, measurements include all other values.
    ///
    /// - Parameters:
    ///   - content: The values that the sensor omits from measurements.
    ///   - wheelRevolutions: Whether the sensor omits the wheel revolutions.
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
    /// Reads the op code, and reads the remaining bytes as the parameter.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        operation = CyclingPowerOperation(rawValue: try reader.read())
        parameter = reader.readRemaining()
    }

    /// Appends the op code and the parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write(operation.rawValue)
        writer.write(parameter)
    }
}

/// An operation of the Cycling Power Control Point, identified by an op code.
public struct CyclingPowerOperation: Equatable, Sendable {
    /// The encoded op code of the operation.
    public var rawValue: UInt8

    /// Creates an operation.
    ///
    /// The initializer also accepts op codes that the Cycling Power Service specification does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Sets the wheel revolution count.
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
    /// Sets the length of the chain span.
    public static let setSpanLength = CyclingPowerOperation(rawValue: 0x0A)
    /// Requests the length of the chain span.
    public static let requestSpanLength = CyclingPowerOperation(rawValue: 0x0B)
    /// Compensates the offset of the sensor.
    public static let startOffsetCompensation = CyclingPowerOperation(rawValue: 0x0C)
    /// Selects the values that the sensor omits from measurements.
    public static let maskMeasurementContent = CyclingPowerOperation(rawValue: 0x0D)
    /// Requests the sampling rate of the sensor.
    public static let requestSamplingRate = CyclingPowerOperation(rawValue: 0x0E)
    /// Requests the date of the factory calibration.
    public static let requestFactoryCalibrationDate = CyclingPowerOperation(rawValue: 0x0F)
    /// Compensates the offset of the sensor, and requests manufacturer data.
    public static let startEnhancedOffsetCompensation = CyclingPowerOperation(rawValue: 0x10)
}

/// The indication that the Cycling Power Control Point sends in response to a request.
///
/// Cycling Power Service 1.1, section 3.4, defines the responses.
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

    /// Appends the response code, the op code of the request, the result and the parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write([Self.responseCode, operation.rawValue, result.rawValue])
        writer.write(parameter)
    }
}
