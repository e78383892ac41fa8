/// An error code of the attribute protocol, which a central receives when its request fails.
///
/// The codes are those of Core Specification Vol 3, Part F, 3.4.1.1. The codes from 0xFC on are the common
/// profile and service errors of the Core Specification Supplement, Part B, 1.2. Services define the codes
/// from 0x80 to 0x9F: see ``application(_:)``.
///
/// Some Bluetooth stacks cannot send every error. A central of the in-memory stack receives exactly the error
/// that a handler throws. BlueZ sends application errors and the errors in this table. BlueZ sends any other
/// error as ``unlikelyError``, and the log then contains a warning.
///
/// | Code | Error | On BlueZ |
/// |---|---|---|
/// | 0x02 | ``readNotPermitted`` | when thrown for a read |
/// | 0x03 | ``writeNotPermitted`` | when thrown for a write |
/// | 0x06 | ``requestNotSupported`` | |
/// | 0x07 | ``invalidOffset`` | |
/// | 0x08 | ``insufficientAuthorization`` | |
/// | 0x0D | ``invalidAttributeValueLength`` | |
/// | 0x0E | ``unlikelyError`` | |
/// | 0xFD | ``clientCharacteristicConfigurationImproperlyConfigured`` | from 5.76 on |
/// | 0xFE | ``procedureAlreadyInProgress`` | |
public struct ATTError: Error, RawRepresentable, Hashable, Sendable {
    /// The code in an Error Response.
    public let rawValue: UInt8

    /// Creates an error from its code, which may be undefined.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Creates an error that a service or a profile defines: `.application(.x81)`.
    public static func application(_ code: ApplicationCode) -> ATTError {
        ATTError(rawValue: code.rawValue)
    }

    /// The codes that services and profiles define: 0x80 through 0x9F.
    ///
    /// For a code that is known only at run time, use `ApplicationCode(rawValue:)`. This initializer returns
    /// `nil` for a code outside the range.
    public enum ApplicationCode: UInt8, Hashable, Sendable, CaseIterable {
        /// 0x80 through 0x87.
        case x80 = 0x80, x81, x82, x83, x84, x85, x86, x87
        /// 0x88 through 0x8F.
        case x88, x89, x8A, x8B, x8C, x8D, x8E, x8F
        /// 0x90 through 0x97.
        case x90, x91, x92, x93, x94, x95, x96, x97
        /// 0x98 through 0x9F.
        case x98, x99, x9A, x9B, x9C, x9D, x9E, x9F
    }

    /// Whether a service or a profile defines this code: 0x80 through 0x9F.
    public var isApplicationError: Bool {
        (0x80...0x9F).contains(rawValue)
    }
}

// MARK: - Attribute protocol

extension ATTError {
    /// The attribute handle is not valid on this peripheral.
    public static let invalidHandle = ATTError(rawValue: 0x01)

    /// The attribute cannot be read.
    public static let readNotPermitted = ATTError(rawValue: 0x02)

    /// The attribute cannot be written.
    public static let writeNotPermitted = ATTError(rawValue: 0x03)

    /// The attribute protocol data unit is malformed.
    public static let invalidPDU = ATTError(rawValue: 0x04)

    /// The link must be authenticated.
    public static let insufficientAuthentication = ATTError(rawValue: 0x05)

    /// The peripheral does not support the request.
    public static let requestNotSupported = ATTError(rawValue: 0x06)

    /// The offset is past the end of the value.
    public static let invalidOffset = ATTError(rawValue: 0x07)

    /// The central is not authorized.
    public static let insufficientAuthorization = ATTError(rawValue: 0x08)

    /// Too many prepared writes are queued.
    public static let prepareQueueFull = ATTError(rawValue: 0x09)

    /// No attribute exists in the range of handles.
    public static let attributeNotFound = ATTError(rawValue: 0x0A)

    /// The value cannot be read in parts.
    public static let attributeNotLong = ATTError(rawValue: 0x0B)

    /// The link's encryption key is too short.
    public static let encryptionKeySizeTooShort = ATTError(rawValue: 0x0C)

    /// The value's length is wrong for this attribute.
    public static let invalidAttributeValueLength = ATTError(rawValue: 0x0D)

    /// The request failed for a reason that no other code describes.
    public static let unlikelyError = ATTError(rawValue: 0x0E)

    /// The link must be encrypted.
    public static let insufficientEncryption = ATTError(rawValue: 0x0F)

    /// The attribute type is not a grouping type.
    public static let unsupportedGroupType = ATTError(rawValue: 0x10)

    /// The peripheral lacks the resources for the request.
    public static let insufficientResources = ATTError(rawValue: 0x11)

    /// The central must discover the attributes again.
    public static let databaseOutOfSync = ATTError(rawValue: 0x12)

    /// The attribute does not accept the value.
    public static let valueNotAllowed = ATTError(rawValue: 0x13)
}

// MARK: - Common profile and service errors

extension ATTError {
    /// The write is refused for a reason that the profile defines.
    public static let writeRequestRejected = ATTError(rawValue: 0xFC)

    /// The Client Characteristic Configuration descriptor is not set as the procedure requires.
    public static let clientCharacteristicConfigurationImproperlyConfigured = ATTError(rawValue: 0xFD)

    /// An earlier procedure is still in progress.
    public static let procedureAlreadyInProgress = ATTError(rawValue: 0xFE)

    /// The value is outside its defined range.
    public static let outOfRange = ATTError(rawValue: 0xFF)
}

extension ATTError: CustomStringConvertible {
    /// The name of the error in the specification, followed by its code.
    ///
    /// An example is `read not permitted (0x02)`.
    public var description: String {
        "\(name) (0x\(rawValue.hexadecimalDigits(count: 2)))"
    }

    private var name: String {
        switch self {
        case .invalidHandle: "invalid handle"
        case .readNotPermitted: "read not permitted"
        case .writeNotPermitted: "write not permitted"
        case .invalidPDU: "invalid PDU"
        case .insufficientAuthentication: "insufficient authentication"
        case .requestNotSupported: "request not supported"
        case .invalidOffset: "invalid offset"
        case .insufficientAuthorization: "insufficient authorization"
        case .prepareQueueFull: "prepare queue full"
        case .attributeNotFound: "attribute not found"
        case .attributeNotLong: "attribute not long"
        case .encryptionKeySizeTooShort: "encryption key size too short"
        case .invalidAttributeValueLength: "invalid attribute value length"
        case .unlikelyError: "unlikely error"
        case .insufficientEncryption: "insufficient encryption"
        case .unsupportedGroupType: "unsupported group type"
        case .insufficientResources: "insufficient resources"
        case .databaseOutOfSync: "database out of sync"
        case .valueNotAllowed: "value not allowed"
        case .writeRequestRejected: "write request rejected"
        case .clientCharacteristicConfigurationImproperlyConfigured:
            "client characteristic configuration improperly configured"
        case .procedureAlreadyInProgress: "procedure already in progress"
        case .outOfRange: "out of range"
        case _ where isApplicationError: "application error"
        default: "reserved error"
        }
    }
}
