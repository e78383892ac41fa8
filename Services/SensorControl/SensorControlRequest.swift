public import PeripheralKit
public import PeripheralSensorLocation

/// A request that a central writes to the SC Control Point, 0x2A55.
///
/// The decoder accepts each request that contains at least one byte. The service responds to unknown requests
/// (GATT Specification Supplement, SC Control Point).
public struct SensorControlRequest: Hashable, Sendable {
    /// The requested operation.
    public var operation: SensorControlOperation

    /// The parameter of the operation.
    public var parameter: [UInt8]

    /// Creates a request from an operation and a parameter.
    ///
    /// The initializer also accepts requests that the specification does not define.
    public init(operation: SensorControlOperation, parameter: [UInt8] = []) {
        self.operation = operation
        self.parameter = parameter
    }

    /// Sets the cumulative value.
    ///
    /// The cumulative value is the number of wheel revolutions, or the total distance in units of 0.1 m.
    public static func setCumulativeValue(_ value: UInt32) -> SensorControlRequest {
        SensorControlRequest(operation: .setCumulativeValue, parameter: value.gattBytes)
    }

    /// Calibrates the sensor.
    public static let startSensorCalibration = SensorControlRequest(operation: .startSensorCalibration)

    /// Sets the location of the sensor.
    public static func updateSensorLocation(_ location: SensorLocation) -> SensorControlRequest {
        SensorControlRequest(operation: .updateSensorLocation, parameter: [location.rawValue])
    }

    /// Requests the supported locations of the sensor.
    public static let requestSupportedSensorLocations =
        SensorControlRequest(operation: .requestSupportedSensorLocations)
}

extension SensorControlRequest: GATTValue {
    /// Reads the operation and the parameter.
    ///
    /// The parameter extends to the end of the encoded request.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        operation = SensorControlOperation(rawValue: try reader.read())
        parameter = reader.readRemaining()
    }

    /// Appends the operation and the parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write(operation.rawValue)
        writer.write(parameter)
    }
}

/// An operation of the SC Control Point, identified by its op code.
public struct SensorControlOperation: Hashable, Sendable {
    /// The encoded op code.
    public var rawValue: UInt8

    /// Creates an operation.
    ///
    /// The initializer also accepts operations that the specification does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Sets the cumulative value.
    public static let setCumulativeValue = SensorControlOperation(rawValue: 0x01)
    /// Calibrates the sensor.
    public static let startSensorCalibration = SensorControlOperation(rawValue: 0x02)
    /// Sets the location of the sensor.
    public static let updateSensorLocation = SensorControlOperation(rawValue: 0x03)
    /// Requests the supported locations of the sensor.
    public static let requestSupportedSensorLocations = SensorControlOperation(rawValue: 0x04)
}

/// The response that the SC Control Point sends as an indication after a request.
///
/// The GATT Specification Supplement defines the response in its SC Control Point section.
public struct SensorControlResponse: Hashable, Sendable {
    /// The requested operation.
    public var operation: SensorControlOperation

    /// The result of the operation.
    public var result: SensorControlResult

    /// The supported locations.
    ///
    /// The response to ``SensorControlOperation/requestSupportedSensorLocations`` contains the locations.
    ///
    /// If the operation does not request the locations, the list of locations is empty.
    public var locations: [SensorLocation]

    /// Creates a response.
    public init(
        _ result: SensorControlResult,
        to operation: SensorControlOperation,
        locations: [SensorLocation] = []
    ) {
        self.operation = operation
        self.result = result
        self.locations = locations
    }
}

extension SensorControlResponse: GATTValue {
    private static let responseCode: UInt8 = 0x10

    /// Reads a response.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let code: UInt8 = try reader.read()
        guard code == Self.responseCode else {
            throw .invalidValue("\(code) is not the op code of a response; the op code is 16")
        }
        operation = SensorControlOperation(rawValue: try reader.read())
        result = SensorControlResult(rawValue: try reader.read())
        locations = reader.readRemaining().map(SensorLocation.init(rawValue:))
    }

    /// Appends the encoded response, which is at most 20 bytes long.
    public func encode(into writer: inout ByteWriter) {
        writer.write([Self.responseCode, operation.rawValue, result.rawValue])
        for location in locations.prefix(17) { writer.write(location.rawValue) }
    }
}
