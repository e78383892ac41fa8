public import PeripheralKit

/// What has become of a machine: the value of the Fitness Machine Status, 0x2ADA (Fitness Machine Service 1.0, section
/// 4.17).
///
/// The service tells by itself what the control point has done. A program tells what the user does at the machine:
///
/// ```swift
/// try await bike.tell(.pausedByUser, in: session)
/// try await bike.tell(.changed(.targetPower(watts: 180)), in: session)
/// ```
public enum FitnessMachineStatus: Sendable {
    /// How a spin down is going.
    public enum SpinDown: UInt8, Sendable {
        /// The machine asks for one.
        case requested = 1
        /// It has been done.
        case success = 2
        /// It has failed.
        case error = 3
        /// The rider has to stop pedaling.
        case stopPedaling = 4
    }

    /// The machine has been reset.
    case reset
    /// The training has been stopped.
    case stoppedByUser
    /// The training has been paused.
    case pausedByUser
    /// The machine has been stopped by the safety key.
    case stoppedBySafetyKey
    /// The training has been started, or goes on.
    case startedOrResumedByUser
    /// What can be set has been set as by this request.
    ///
    /// A resistance level is −3276.8 to 3276.7 here. Of requests that set nothing, `.reset`, `.startOrResume`, `.stop` and `.pause` stand for the status of theirs; others are
    /// not sent.
    case changed(FitnessMachineRequest)
    /// A spin down goes on.
    case spinDown(SpinDown)
    /// The central has no control of the machine any more.
    case controlPermissionLost
    /// What a later version of the specification may define.
    case unknown(opCode: UInt8, parameter: [UInt8])
}

extension FitnessMachineStatus: GATTValue {
    /// Reads an op code; the parameter takes up all bytes that are left.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let opCode: UInt8 = try reader.read()
        let parameter = reader.readRemaining()
        switch (opCode, parameter) {
        case (0x01, []): self = .reset
        case (0x02, [1]): self = .stoppedByUser
        case (0x02, [2]): self = .pausedByUser
        case (0x03, []): self = .stoppedBySafetyKey
        case (0x04, []): self = .startedOrResumedByUser
        case (0x07, _) where parameter.count == 2:
            let format = FitnessMachineFormat.signedTenths16
            self = .changed(.targetResistanceLevel(Double(format.integer(parameter)) / format.one))
        case (0x07, _): self = .unknown(opCode: opCode, parameter: parameter)
        case (0x14, _):
            guard parameter.count == 1, let spinDown = SpinDown(rawValue: parameter[0]) else {
                self = .unknown(opCode: opCode, parameter: parameter)
                return
            }
            self = .spinDown(spinDown)
        case (0xFF, []): self = .controlPermissionLost
        case (0x05...0x15, _):
            // The op codes follow those of the requests, which lack those for start and stop in between.
            let request = FitnessMachineRequest(
                opCode: opCode < 0x0A ? opCode - 3 : opCode - 1,
                parameter: parameter
            )
            if case .unknown = request {
                self = .unknown(opCode: opCode, parameter: parameter)
            } else {
                self = .changed(request)
            }
        default: self = .unknown(opCode: opCode, parameter: parameter)
        }
    }

    /// Appends an op code and the parameter.
    public func encode(into writer: inout ByteWriter) {
        let (opCode, parameter) = parts
        writer.write(opCode)
        writer.write(parameter)
    }

    private var parts: (opCode: UInt8, parameter: [UInt8]) {
        switch self {
        case .reset: (0x01, [])
        case .stoppedByUser: (0x02, [1])
        case .pausedByUser: (0x02, [2])
        case .stoppedBySafetyKey: (0x03, [])
        case .startedOrResumedByUser: (0x04, [])
        case .changed(let request): Self.parts(of: request)
        case .spinDown(let spinDown): (0x14, [spinDown.rawValue])
        case .controlPermissionLost: (0xFF, [])
        case .unknown(let opCode, let parameter): (opCode, parameter)
        }
    }

    /// The status after a request.
    private static func parts(of request: FitnessMachineRequest) -> (opCode: UInt8, parameter: [UInt8]) {
        // A level has one byte in the request, and two in the status.
        if case .targetResistanceLevel(let level) = request {
            let format = FitnessMachineFormat.signedTenths16
            return (0x07, format.bytes(format.integer(level)))
        }
        return switch request.opCode {
        case 0x01: (0x01, [])
        case 0x02...0x06: (request.opCode + 3, request.parameter)
        case 0x07: (0x04, [])
        case 0x08: (0x02, request.parameter)
        case 0x09...0x12, 0x14: (request.opCode + 1, request.parameter)
        default: (0x00, [])
        }
    }

    /// Whether there is something to tell.
    var isSent: Bool { parts.opCode != 0 }
}

extension FitnessMachineStatus: Equatable {
    /// Tells whether both are the same on the air.
    public static func == (lhs: FitnessMachineStatus, rhs: FitnessMachineStatus) -> Bool {
        lhs.gattBytes == rhs.gattBytes
    }
}
