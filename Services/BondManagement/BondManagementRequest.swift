public import PeripheralKit

/// A request that a central writes to the Bond Management Control Point, 0x2AA4.
///
/// The Bond Management Service specification 1.0.1, section 3.1, defines the request.
public struct BondManagementRequest: Hashable, Sendable {
    /// The op code of the request as a number.
    public var operationCode: UInt8

    /// The authorization code, which is often UTF-8 text.
    ///
    /// The program defines the valid authorization codes.
    public var authorizationCode: [UInt8]

    /// Creates a request.
    ///
    /// The op code can be a number that the specification does not define.
    public init(operationCode: UInt8, authorizationCode: [UInt8] = []) {
        self.operationCode = operationCode
        self.authorizationCode = authorizationCode
    }

    /// Creates a request to delete bonds.
    ///
    /// - Parameters:
    ///   - scope: The bonds to delete.
    ///   - transport: The Bluetooth transport of the bonds to delete: LE, BR/EDR or both.
    ///   - authorizationCode: The authorization code that the device requires, or an empty array if the
    ///     device requires no code.
    public init(
        delete scope: BondScope,
        of transport: BondTransport = .lowEnergy,
        authorizationCode: [UInt8] = []
    ) {
        self.init(
            operationCode: UInt8(scope.rank * 3 + transport.rank + 1),
            authorizationCode: authorizationCode
        )
    }
}

extension BondManagementRequest: GATTValue {
    /// Decodes the op code, and uses the remaining bytes as the authorization code.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        operationCode = try reader.read()
        authorizationCode = reader.readRemaining()
    }

    /// Appends the op code and the authorization code.
    public func encode(into writer: inout ByteWriter) {
        writer.write(operationCode)
        writer.write(authorizationCode)
    }
}

/// The bonds that a request deletes.
public enum BondScope: Hashable, Sendable, CaseIterable {
    /// The bond of the requesting central.
    case requestingDevice
    /// All bonds.
    case all
    /// All bonds except the bond of the requesting central.
    case allButRequestingDevice

    /// The position in the order of op codes.
    var rank: Int {
        switch self {
        case .requestingDevice: 0
        case .all: 1
        case .allButRequestingDevice: 2
        }
    }
}

/// The Bluetooth transport of the bonds to delete: LE, BR/EDR or both.
public enum BondTransport: Hashable, Sendable, CaseIterable {
    /// BR/EDR and LE.
    case both
    /// BR/EDR.
    case classic
    /// LE.
    case lowEnergy

    /// The position in the order of op codes.
    var rank: Int {
        switch self {
        case .both: 0
        case .classic: 1
        case .lowEnergy: 2
        }
    }
}

/// The requests that a device supports.
///
/// This type represents the value of the Bond Management Feature characteristic, 0x2AA5 (Bond Management
/// Service 1.0.1, section 3.2). The service derives the features from the parameters of its initializer.
public struct BondManagementFeature: Hashable, Sendable {
    /// The encoded features in the lowest 24 bits.
    ///
    /// The features contain two bits for each op code, in ascending order of the op codes. The two lowest
    /// bits belong to op code 1. The lower bit for an op code is set if the device supports the op code. The
    /// higher bit for an op code is set if the op code requires an authorization code.
    public let rawValue: UInt32

    /// Creates a set of features.
    ///
    /// The set can contain features that the specification does not define.
    ///
    /// The initializer ignores bits 24 and higher.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue & 0xFF_FFFF
    }

    /// The features of a device that supports these requests.
    init(_ scopes: Set<BondScope>, of transport: BondTransport, isAuthorized: Bool) {
        var bits: UInt32 = 0
        for scope in scopes {
            bits |= (isAuthorized ? 0b11 : 0b01) << UInt32((scope.rank * 3 + transport.rank) * 2)
        }
        rawValue = bits
    }
}

extension BondManagementFeature: GATTValue {
    /// Decodes three bytes, and ignores additional bytes from a later version of the specification.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let bits = try reader.readUInt24()
        _ = reader.readRemaining()
        self.init(rawValue: bits.rawValue)
    }

    /// Appends three bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write(UInt24(clamping: rawValue))
    }
}
