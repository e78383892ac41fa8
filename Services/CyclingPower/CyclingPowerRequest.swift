public import PeripheralKit
public import PeripheralSensorLocation

/// What a central writes to the Cycling Power Control Point, 0x2A66 (Cycling Power Service 1.1, section 3.4).
///
/// Any request of at least one byte is read: one that nobody knows is answered by a response.
public struct CyclingPowerRequest: Equatable, Sendable {
    /// What is demanded.
    public var operation: CyclingPowerOperation

    /// What it takes.
    public var parameter: [UInt8]

    /// Makes a request of its parts, known to the specification or not.
    public init(operation: CyclingPowerOperation, parameter: [UInt8] = []) {
        self.operation = operation
        self.parameter = parameter
    }

    /// Sets the count of the wheel's revolutions.
    public static func setWheelRevolutions(_ count: UInt32) -> CyclingPowerRequest {
        CyclingPowerRequest(operation: .setCumulativeValue, parameter: count.gattBytes)
    }

    /// Tells the sensor where it is.
    public static func updateSensorLocation(_ location: SensorLocation) -> CyclingPowerRequest {
        CyclingPowerRequest(operation: .updateSensorLocation, parameter: [location.rawValue])
    }

    /// Turns off a part of the measurements, and turns on all other.
    ///
    /// - Parameters:
    ///   - content: What is turned off.
    ///   - wheelRevolutions: Whether the wheel's revolutions are turned off as well.
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
    /// Reads the operation; the parameter takes up all bytes that are left.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        operation = CyclingPowerOperation(rawValue: try reader.read())
        parameter = reader.readRemaining()
    }

    /// Appends operation and parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write(operation.rawValue)
        writer.write(parameter)
    }
}

/// What a central demands of the Cycling Power Control Point: its op codes.
public struct CyclingPowerOperation: Equatable, Sendable {
    /// The op code as it is on the air.
    public var rawValue: UInt8

    /// Makes an operation, known to the specification or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Set the count of the wheel's revolutions.
    public static let setCumulativeValue = CyclingPowerOperation(rawValue: 0x01)
    /// Set where the sensor is.
    public static let updateSensorLocation = CyclingPowerOperation(rawValue: 0x02)
    /// Tell where the sensor can be.
    public static let requestSupportedSensorLocations = CyclingPowerOperation(rawValue: 0x03)
    /// Set the length of the crank.
    public static let setCrankLength = CyclingPowerOperation(rawValue: 0x04)
    /// Tell the length of the crank.
    public static let requestCrankLength = CyclingPowerOperation(rawValue: 0x05)
    /// Set the length of the chain.
    public static let setChainLength = CyclingPowerOperation(rawValue: 0x06)
    /// Tell the length of the chain.
    public static let requestChainLength = CyclingPowerOperation(rawValue: 0x07)
    /// Set the weight of the chain.
    public static let setChainWeight = CyclingPowerOperation(rawValue: 0x08)
    /// Tell the weight of the chain.
    public static let requestChainWeight = CyclingPowerOperation(rawValue: 0x09)
    /// Set the length of the span.
    public static let setSpanLength = CyclingPowerOperation(rawValue: 0x0A)
    /// Tell the length of the span.
    public static let requestSpanLength = CyclingPowerOperation(rawValue: 0x0B)
    /// Compensate the offset.
    public static let startOffsetCompensation = CyclingPowerOperation(rawValue: 0x0C)
    /// Turn a part of the measurements off.
    public static let maskMeasurementContent = CyclingPowerOperation(rawValue: 0x0D)
    /// Tell how often the sensor measures.
    public static let requestSamplingRate = CyclingPowerOperation(rawValue: 0x0E)
    /// Tell when the maker has calibrated the sensor.
    public static let requestFactoryCalibrationDate = CyclingPowerOperation(rawValue: 0x0F)
    /// Compensate the offset, and tell data of the maker.
    public static let startEnhancedOffsetCompensation = CyclingPowerOperation(rawValue: 0x10)
}

/// What the Cycling Power Control Point indicates when a request is carried out (Cycling Power Service 1.1, section 3.4).
public struct CyclingPowerResponse: Equatable, Sendable {
    /// What was demanded.
    public var operation: CyclingPowerOperation

    /// How it has ended.
    public var result: SensorControlResult

    /// What was asked for, as it is on the air.
    public var parameter: [UInt8]

    /// Makes a response.
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
        guard code == Self.responseCode else { throw .invalidValue("\(code) is no response") }
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
