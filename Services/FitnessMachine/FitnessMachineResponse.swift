public import PeripheralKit

/// The result of a request to the Fitness Machine Control Point.
///
/// This type represents the result code of the response (Fitness Machine Service 1.0, section 4.16.2.22). To
/// refuse a request, the handler of a ``FitnessMachineControl`` throws a ``FitnessMachineResult``.
public struct FitnessMachineResult: Error, Equatable {
    /// The encoded result.
    public var rawValue: UInt8

    /// Creates a result.
    ///
    /// The initializer accepts results that the Fitness Machine Service specification does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The machine has carried out the request.
    public static let success = FitnessMachineResult(rawValue: 0x01)
    /// The machine does not support the request.
    public static let opCodeNotSupported = FitnessMachineResult(rawValue: 0x02)
    /// The parameter of the request is invalid or out of the supported range.
    public static let invalidParameter = FitnessMachineResult(rawValue: 0x03)
    /// The request failed, for example because the workout is already running.
    public static let operationFailed = FitnessMachineResult(rawValue: 0x04)
    /// The requesting central does not control the machine.
    public static let controlNotPermitted = FitnessMachineResult(rawValue: 0x05)
}

/// The response that the Fitness Machine Control Point sends as an indication.
///
/// Fitness Machine Service 1.0, section 4.16.2.22, defines the responses.
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
    ///   - spinDown: The lower and the higher target speed of a spin-down, in kilometers per hour. Each
    ///     target speed is 0 to 655.35 in steps of 0.01. In a spin-down, the user first accelerates the wheel
    ///     to the higher of the two target speeds. The wheel then slows down to the lower target speed. Pass
    ///     `nil` if the request is not a spin-down request.
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

    /// The lower and the higher target speed of a spin-down, in kilometers per hour.
    ///
    /// The property is `nil` if the response contains no target speeds.
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

    /// Decodes a response, and reads all bytes after the result as the parameter.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let code: UInt8 = try reader.read()
        guard code == Self.responseCode else { throw .invalidValue("a response begins with 0x80") }
        opCode = try reader.read()
        result = FitnessMachineResult(rawValue: try reader.read())
        parameter = reader.readRemaining()
    }

    /// Appends 3 bytes, or 7 bytes with the target speeds of a spin-down.
    public func encode(into writer: inout ByteWriter) {
        writer.write([Self.responseCode, opCode, result.rawValue] + parameter)
    }
}
