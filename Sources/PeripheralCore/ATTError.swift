/// The reason for which a server refuses a request: what a central sees.
///
/// See Core Specification, Vol 3, Part F, 3.4.1.1, and the Core Specification Supplement, Part B, for the codes
/// that profiles and services have in common.
public struct ATTError: Error, RawRepresentable, Hashable, Sendable {
    /// The code on the air.
    public let rawValue: UInt8

    /// Makes an error from its code.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// An error of the application's or the service's own making.
    ///
    /// - Parameter code: 0x80 to 0x9F.
    /// - Returns: The error, or `nil` when the code is another.
    public static func application(_ code: UInt8) -> ATTError? {
        let error = ATTError(rawValue: code)
        return error.isApplicationError ? error : nil
    }

    /// Whether the meaning of the code is the application's or the service's own: 0x80 to 0x9F.
    public var isApplicationError: Bool {
        (0x80...0x9F).contains(rawValue)
    }

    // MARK: The codes of the Attribute Protocol

    /// The handle is not valid on this server.
    public static let invalidHandle = ATTError(rawValue: 0x01)
    /// The attribute cannot be read.
    public static let readNotPermitted = ATTError(rawValue: 0x02)
    /// The attribute cannot be written.
    public static let writeNotPermitted = ATTError(rawValue: 0x03)
    /// The packet is malformed.
    public static let invalidPDU = ATTError(rawValue: 0x04)
    /// The link must be authenticated first.
    public static let insufficientAuthentication = ATTError(rawValue: 0x05)
    /// The server does not support the request.
    public static let requestNotSupported = ATTError(rawValue: 0x06)
    /// The offset is past the end of the value.
    public static let invalidOffset = ATTError(rawValue: 0x07)
    /// The central is not authorised.
    public static let insufficientAuthorization = ATTError(rawValue: 0x08)
    /// Too many writes have been prepared.
    public static let prepareQueueFull = ATTError(rawValue: 0x09)
    /// No attribute was found in the range of handles.
    public static let attributeNotFound = ATTError(rawValue: 0x0A)
    /// The attribute cannot be read in parts.
    public static let attributeNotLong = ATTError(rawValue: 0x0B)
    /// The encryption key is too short.
    public static let encryptionKeySizeTooShort = ATTError(rawValue: 0x0C)
    /// The value's length does not suit the attribute.
    public static let invalidAttributeValueLength = ATTError(rawValue: 0x0D)
    /// Something unlikely went wrong.
    public static let unlikelyError = ATTError(rawValue: 0x0E)
    /// The link must be encrypted first.
    public static let insufficientEncryption = ATTError(rawValue: 0x0F)
    /// The attribute type cannot group others.
    public static let unsupportedGroupType = ATTError(rawValue: 0x10)
    /// The server lacks the resources to serve the request.
    public static let insufficientResources = ATTError(rawValue: 0x11)
    /// The central must discover the database again.
    public static let databaseOutOfSync = ATTError(rawValue: 0x12)
    /// The value is not allowed.
    public static let valueNotAllowed = ATTError(rawValue: 0x13)

    // MARK: The common codes of profiles and services

    /// The write was refused for a reason that no other code gives.
    public static let writeRequestRejected = ATTError(rawValue: 0xFC)
    /// The client characteristic configuration is not as it has to be.
    public static let clientCharacteristicConfigurationImproperlyConfigured = ATTError(rawValue: 0xFD)
    /// A procedure is in progress already.
    public static let procedureAlreadyInProgress = ATTError(rawValue: 0xFE)
    /// The value is out of its range.
    public static let outOfRange = ATTError(rawValue: 0xFF)

    private static let names: [UInt8: String] = [
        0x01: "invalid handle", 0x02: "read not permitted", 0x03: "write not permitted", 0x04: "invalid PDU",
        0x05: "insufficient authentication", 0x06: "request not supported", 0x07: "invalid offset",
        0x08: "insufficient authorization", 0x09: "prepare queue full", 0x0A: "attribute not found",
        0x0B: "attribute not long", 0x0C: "encryption key size too short",
        0x0D: "invalid attribute value length", 0x0E: "unlikely error", 0x0F: "insufficient encryption",
        0x10: "unsupported group type", 0x11: "insufficient resources", 0x12: "database out of sync",
        0x13: "value not allowed", 0xFC: "write request rejected",
        0xFD: "client characteristic configuration improperly configured",
        0xFE: "procedure already in progress", 0xFF: "out of range",
    ]
}

extension ATTError: CustomStringConvertible {
    /// The name and the code, such as `invalid offset (0x07)`.
    public var description: String {
        let code = "0x" + (rawValue < 16 ? "0" : "") + String(rawValue, radix: 16)
        let name = Self.names[rawValue] ?? (isApplicationError ? "application error" : "reserved error")
        return "\(name) (\(code))"
    }
}
