public import PeripheralKit

/// The result of a request to the Fitness Machine Control Point.
///
/// This type represents the result code of the response (Fitness Machine Service 1.0, section 4.16.2.22). The
/// handler of requests throws a result to refuse a request.
public struct FitnessMachineResult: Error, Equatable {
    /// The encoded result.
    public var rawValue: UInt8

    /// Creates a result.
    ///
    /// Results that the specification does not define are allowed.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The request was carried out.
    public static let success = FitnessMachineResult(rawValue: 0x01)
    /// The machine does not support the request.
    public static let opCodeNotSupported = FitnessMachineResult(rawValue: 0x02)
    /// The parameter is invalid, or out of the supported range.
    public static let invalidParameter = FitnessMachineResult(rawValue: 0x03)
    /// The request failed, for example because the training is already running.
    public static let operationFailed = FitnessMachineResult(rawValue: 0x04)
    /// The central does not control the machine.
    public static let controlNotPermitted = FitnessMachineResult(rawValue: 0x05)
}

/// The response that the Fitness Machine Control Point indicates to a request.
///
/// Fitness Machine Service 1.0, section 4.16.2.22, defines the response.
public struct FitnessMachineResponse: Equatable, Sendable {
    /// The op code of the request.
    public var opCode: UInt8

    /// The result of the request.
    public var result: FitnessMachineResult

    private var parameter: [UInt8] = []

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - result: The result of the request.
    ///   - opCode: The op code of the request.
    ///   - spinDown: The speeds of a spin down, in kilometers per hour, 0 to 655.35 in steps of 0.01. The
    ///     user brings the wheel to the higher speed, and the wheel spins down to the lower speed. Pass `nil`
    ///     for all other requests.
    public init(_ result: FitnessMachineResult, to opCode: UInt8, spinDown: ClosedRange<Double>? = nil) {
        self.opCode = opCode
        self.result = result
        guard let spinDown else { return }
        let format = FitnessMachineFormat.hundredths16
        parameter = format.bytes(of: spinDown.lowerBound) + format.bytes(of: spinDown.upperBound)
    }

    /// Creates a response.
    public init(_ result: FitnessMachineResult, to request: FitnessMachineRequest) {
        self.init(result, to: request.opCode)
    }

    /// The speeds of a spin down, in kilometers per hour; `nil` when there are no speeds.
    public var spinDown: ClosedRange<Double>? {
        let format = FitnessMachineFormat.hundredths16
        guard parameter.count == 4 else { return nil }
        let low = format.number(parameter[..<2])
        let high = format.number(parameter[2...])
        return low <= high ? low...high : nil
    }
}

extension FitnessMachineResponse: GATTValue {
    private static let responseCode: UInt8 = 0x80

    /// Reads a response, and uses the remaining bytes as the parameter.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let code: UInt8 = try reader.read()
        guard code == Self.responseCode else { throw .invalidValue("a response begins with 0x80") }
        opCode = try reader.read()
        result = FitnessMachineResult(rawValue: try reader.read())
        parameter = reader.readRemaining()
    }

    /// Appends 3 bytes, or 7 for a spin down.
    public func encode(into writer: inout ByteWriter) {
        writer.write([Self.responseCode, opCode, result.rawValue] + parameter)
    }
}
