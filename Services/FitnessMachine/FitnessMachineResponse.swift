public import PeripheralKit

/// How a request has ended: the result codes of the Fitness Machine Control Point (Fitness Machine Service 1.0, section
/// 4.16.2.22).
///
/// What carries out requests throws one to refuse.
public struct FitnessMachineResult: Error, Equatable {
    /// The result as it is on the air.
    public var rawValue: UInt8

    /// Makes a result, known to the specification or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// It was carried out.
    public static let success = FitnessMachineResult(rawValue: 0x01)
    /// The machine has no such request.
    public static let opCodeNotSupported = FitnessMachineResult(rawValue: 0x02)
    /// The parameter makes no sense, or is out of the supported range.
    public static let invalidParameter = FitnessMachineResult(rawValue: 0x03)
    /// It failed, such as a start of what has been started.
    public static let operationFailed = FitnessMachineResult(rawValue: 0x04)
    /// The central has no control of the machine.
    public static let controlNotPermitted = FitnessMachineResult(rawValue: 0x05)
}

/// What the Fitness Machine Control Point indicates when a request has been carried out or refused (Fitness Machine Service
/// 1.0, section 4.16.2.22).
public struct FitnessMachineResponse: Equatable, Sendable {
    /// The op code of the request.
    public var opCode: UInt8

    /// How it has ended.
    public var result: FitnessMachineResult

    private var parameter: [UInt8] = []

    /// Makes a response.
    ///
    /// - Parameters:
    ///   - result: How the request has ended.
    ///   - opCode: The op code of the request.
    ///   - spinDown: The speeds of a spin down, in kilometers per hour, 0 to 655.35 in steps of 0.01: the one down to which the
    ///     wheel spins, and the one to get it to; `nil` with all other requests.
    public init(_ result: FitnessMachineResult, to opCode: UInt8, spinDown: ClosedRange<Double>? = nil) {
        self.opCode = opCode
        self.result = result
        guard let spinDown else { return }
        let format = FitnessMachineFormat.hundredths16
        parameter = format.bytes(of: spinDown.lowerBound) + format.bytes(of: spinDown.upperBound)
    }

    /// Makes a response.
    public init(_ result: FitnessMachineResult, to request: FitnessMachineRequest) {
        self.init(result, to: request.opCode)
    }

    /// The speeds of a spin down, in kilometers per hour; `nil` when there are none.
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

    /// Reads a response; a parameter takes up all bytes that are left.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let code: UInt8 = try reader.read()
        guard code == Self.responseCode else { throw .invalidValue("a response begins with 0x80") }
        opCode = try reader.read()
        result = FitnessMachineResult(rawValue: try reader.read())
        parameter = reader.readRemaining()
    }

    /// Appends 3 bytes, 7 for a spin down.
    public func encode(into writer: inout ByteWriter) {
        writer.write([Self.responseCode, opCode, result.rawValue] + parameter)
    }
}
