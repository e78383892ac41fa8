public import PeripheralKit

/// A request that a central writes to the Bond Management Control Point, 0x2AA4.
///
/// Bond Management Service 1.0.1, section 3.1, defines the request.
public struct BondManagementRequest: Hashable, Sendable {
    /// The encoded op code.
    public var operationCode: UInt8

    /// The authorization code, often text in UTF-8.
    ///
    /// The program defines the codes.
    public var authorizationCode: [UInt8]

    /// Creates a request.
    ///
    /// Requests that the specification does not define are allowed.
    public init(operationCode: UInt8, authorizationCode: [UInt8] = []) {
        self.operationCode = operationCode
        self.authorizationCode = authorizationCode
    }

    /// Creates a request to delete bonds.
    ///
    /// - Parameters:
    ///   - scope: The bonds to delete.
    ///   - transport: The transport of the bonds.
    ///   - authorizationCode: The code that the device demands; empty for none.
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
    /// Reads the op code, and uses the remaining bytes as the authorization code.
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

/// The transport of the bonds that a request deletes.
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
/// Service 1.0.1, section 3.2). The service derives the features from its parameters.
public struct BondManagementFeature: Hashable, Sendable {
    /// The 24 bits, two for each op code.
    ///
    /// For each op code from 1 on, the first bit states whether the device supports the op code. The second
    /// bit states whether the op code requires an authorization code.
    public let rawValue: UInt32

    /// Creates a set of features.
    ///
    /// Features that the specification does not define are allowed.
    ///
    /// The bits from 24 on are ignored.
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
    /// Reads three bytes, and ignores bytes that a later version appends.
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
