public import PeripheralKit

/// How a request has ended: the result codes of the Fitness Machine Control Point (Fitness Machine Service 1.0, section
/// 4.16.2.22).
///
/// What carries out requests throws one to refuse.
public struct FitnessMachineResult: Error, Hashable {
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

/// Between which speeds the wheel of a machine spins down (Fitness Machine Service 1.0, section 4.16.2.20).
public struct SpinDownSpeeds: Hashable, Sendable {
    /// The speed down to which the wheel spins, in kilometers per hour, 0 to 655.35 in steps of 0.01.
    public var low: Double

    /// The speed to get the wheel to, in kilometers per hour, 0 to 655.35 in steps of 0.01.
    public var high: Double

    /// Makes two speeds in kilometers per hour; what is out of range is sent as the end of the range.
    public init(low: Double, high: Double) {
        self.low = low
        self.high = high
    }
}

/// What the Fitness Machine Control Point indicates when a request has been carried out or refused (Fitness Machine Service
/// 1.0, section 4.16.2.22).
public struct FitnessMachineResponse: Hashable, Sendable {
    /// The op code of the request.
    public var opCode: UInt8

    /// How it has ended.
    public var result: FitnessMachineResult

    /// The speeds of a spin down that was started; `nil` with all other requests.
    public var spinDown: SpinDownSpeeds?

    /// Makes a response.
    public init(_ result: FitnessMachineResult, to opCode: UInt8, spinDown: SpinDownSpeeds? = nil) {
        self.opCode = opCode
        self.result = result
        self.spinDown = spinDown
    }

    /// Makes a response.
    public init(
        _ result: FitnessMachineResult,
        to request: FitnessMachineRequest,
        spinDown: SpinDownSpeeds? = nil
    ) {
        self.init(result, to: request.opCode, spinDown: spinDown)
    }
}

extension FitnessMachineResponse: GATTValue {
    private static let responseCode: UInt8 = 0x80

    /// Reads a response.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let code: UInt8 = try reader.read()
        guard code == Self.responseCode else { throw .invalidValue("\(code) is no response") }
        opCode = try reader.read()
        result = FitnessMachineResult(rawValue: try reader.read())
        guard !reader.isAtEnd else { return }
        let format = FitnessMachineFormat.hundredths16
        let low = format.integer(try reader.readBytes(2))
        let high = format.integer(try reader.readBytes(2))
        spinDown = SpinDownSpeeds(low: Double(low) / format.one, high: Double(high) / format.one)
    }

    /// Appends 3 bytes, 7 for a spin down.
    public func encode(into writer: inout ByteWriter) {
        writer.write([Self.responseCode, opCode, result.rawValue])
        guard let spinDown else { return }
        let format = FitnessMachineFormat.hundredths16
        for speed in [spinDown.low, spinDown.high] { writer.write(format.bytes(format.integer(speed))) }
    }
}
