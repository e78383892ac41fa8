public import PeripheralKit
public import PeripheralSensorLocation

/// What a central writes to the SC Control Point, 0x2A55 (GATT Specification Supplement, SC Control Point).
///
/// Any request of at least one byte is read: one that nobody knows is answered by a response.
public struct SensorControlRequest: Hashable, Sendable {
    /// What is demanded.
    public var operation: SensorControlOperation

    /// What it takes.
    public var parameter: [UInt8]

    /// Makes a request of its parts, known to the specification or not.
    public init(operation: SensorControlOperation, parameter: [UInt8] = []) {
        self.operation = operation
        self.parameter = parameter
    }

    /// Sets the cumulative value: the wheel's revolutions, or the total distance in units of 0.1 m.
    public static func setCumulativeValue(_ value: UInt32) -> SensorControlRequest {
        SensorControlRequest(operation: .setCumulativeValue, parameter: value.gattBytes)
    }

    /// Calibrates the sensor.
    public static let startSensorCalibration = SensorControlRequest(operation: .startSensorCalibration)

    /// Tells the sensor where it is.
    public static func updateSensorLocation(_ location: SensorLocation) -> SensorControlRequest {
        SensorControlRequest(operation: .updateSensorLocation, parameter: [location.rawValue])
    }

    /// Asks where the sensor can be.
    public static let requestSupportedSensorLocations =
        SensorControlRequest(operation: .requestSupportedSensorLocations)
}

extension SensorControlRequest: GATTValue {
    /// Reads the operation; the parameter takes up all bytes that are left.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        operation = SensorControlOperation(rawValue: try reader.read())
        parameter = reader.readRemaining()
    }

    /// Appends operation and parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write(operation.rawValue)
        writer.write(parameter)
    }
}

/// What a central demands of the SC Control Point: its op codes.
public struct SensorControlOperation: Hashable, Sendable {
    /// The op code as it is on the air.
    public var rawValue: UInt8

    /// Makes an operation, known to the specification or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Set the cumulative value.
    public static let setCumulativeValue = SensorControlOperation(rawValue: 0x01)
    /// Calibrate the sensor.
    public static let startSensorCalibration = SensorControlOperation(rawValue: 0x02)
    /// Set where the sensor is.
    public static let updateSensorLocation = SensorControlOperation(rawValue: 0x03)
    /// Tell where the sensor can be.
    public static let requestSupportedSensorLocations = SensorControlOperation(rawValue: 0x04)
}

/// What the SC Control Point indicates when a request is carried out (GATT Specification Supplement, SC Control Point).
public struct SensorControlResponse: Hashable, Sendable {
    /// What was demanded.
    public var operation: SensorControlOperation

    /// How it has ended.
    public var result: SensorControlResult

    /// Where the sensor can be, in the answer to ``SensorControlOperation/requestSupportedSensorLocations``; empty with
    /// all other operations.
    public var locations: [SensorLocation]

    /// Makes a response.
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
        guard code == Self.responseCode else { throw .invalidValue("\(code) is no response") }
        operation = SensorControlOperation(rawValue: try reader.read())
        result = SensorControlResult(rawValue: try reader.read())
        locations = reader.readRemaining().map(SensorLocation.init(rawValue:))
    }

    /// Appends at most 20 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write([Self.responseCode, operation.rawValue, result.rawValue])
        for location in locations.prefix(17) { writer.write(location.rawValue) }
    }
}
