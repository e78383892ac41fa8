public import PeripheralKit

/// What a central writes to the Bond Management Control Point, 0x2AA4 (Bond Management Service 1.0.1, section 3.1).
public struct BondManagementRequest: Hashable, Sendable {
    /// The op code as it is on the air.
    public var operationCode: UInt8

    /// The authorization code, as the program defines it; often text in UTF-8.
    public var authorizationCode: [UInt8]

    /// Makes a request, known to the specification or not.
    public init(operationCode: UInt8, authorizationCode: [UInt8] = []) {
        self.operationCode = operationCode
        self.authorizationCode = authorizationCode
    }

    /// Makes a request to delete bonds.
    ///
    /// - Parameters:
    ///   - scope: Whose bonds.
    ///   - transport: Of which transport.
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
    /// Reads the op code; the authorization code takes up all bytes that are left.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        operationCode = try reader.read()
        authorizationCode = reader.readRemaining()
    }

    /// Appends op code and authorization code.
    public func encode(into writer: inout ByteWriter) {
        writer.write(operationCode)
        writer.write(authorizationCode)
    }
}

/// Whose bonds are to be deleted.
public enum BondScope: Hashable, Sendable, CaseIterable {
    /// That of the central that asks for it.
    case requestingDevice
    /// All.
    case all
    /// All but that of the central that asks for it.
    case allButRequestingDevice

    /// The place in the order of op codes.
    var rank: Int {
        switch self {
        case .requestingDevice: 0
        case .all: 1
        case .allButRequestingDevice: 2
        }
    }
}

/// Of which transport bonds are.
public enum BondTransport: Hashable, Sendable, CaseIterable {
    /// Both of BR/EDR and of LE.
    case both
    /// Of BR/EDR.
    case classic
    /// Of LE.
    case lowEnergy

    /// The place in the order of op codes.
    var rank: Int {
        switch self {
        case .both: 0
        case .classic: 1
        case .lowEnergy: 2
        }
    }
}

/// Which requests a device takes: the value of the Bond Management Feature, 0x2AA5 (Bond Management Service 1.0.1,
/// section 3.2).
///
/// The service makes it of its parameters.
public struct BondManagementFeature: Hashable, Sendable {
    /// The 24 bits: for each op code from 1 on, whether it is supported, and whether it takes an authorization code.
    public let rawValue: UInt32

    /// Makes a set of features, known to the specification or not; the bits from 24 on are dropped.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue & 0xFF_FFFF
    }

    /// The features of a device that takes these requests.
    init(_ scopes: Set<BondScope>, of transport: BondTransport, isAuthorized: Bool) {
        var bits: UInt32 = 0
        for scope in scopes {
            bits |= (isAuthorized ? 0b11 : 0b01) << UInt32((scope.rank * 3 + transport.rank) * 2)
        }
        rawValue = bits
    }
}

extension BondManagementFeature: GATTValue {
    /// Reads three bytes; what a later version appends is ignored.
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
