/// An error code of the Attribute Protocol (ATT).
///
/// A central receives an error code when its request fails. The codes below 0x80 are defined in Core
/// Specification Vol 3, Part F, section 3.4.1.1. All profiles and services share the codes 0xFC through 0xFF
/// (Core Specification Supplement, Part B, section 1.2). Each service defines its own meanings for the codes
/// 0x80 through 0x9F. For these codes, use ``application(_:)``.
///
/// Some Bluetooth stacks can send only some of the ATT errors. With the in-memory stack, a central receives
/// exactly the error that a handler throws. BlueZ can send application errors (0x80 through 0x9F) and the
/// errors in the following table. If a handler throws any other error, BlueZ sends ``unlikelyError``, and the
/// framework logs a warning. The article "Limits of BlueZ by version" is in the documentation of
/// `PeripheralBlueZ`.
///
/// | Code | Error | Condition on BlueZ |
/// |---|---|---|
/// | 0x02 | ``readNotPermitted`` | only when a read handler throws the error |
/// | 0x03 | ``writeNotPermitted`` | only when a write handler throws the error |
/// | 0x06 | ``requestNotSupported`` | |
/// | 0x07 | ``invalidOffset`` | |
/// | 0x08 | ``insufficientAuthorization`` | |
/// | 0x0D | ``invalidAttributeValueLength`` | |
/// | 0x0E | ``unlikelyError`` | |
/// | 0xFD | ``clientCharacteristicConfigurationImproperlyConfigured`` | see "Limits of BlueZ by version" |
/// | 0xFE | ``procedureAlreadyInProgress`` | |
public struct ATTError: Error, RawRepresentable, Hashable, Sendable {
    /// The error code in the Error Response of the attribute protocol.
    public let rawValue: UInt8

    /// Creates an error from any code, including undefined codes.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Creates an error that a service or a profile defines, such as `.application(.x81)`.
    public static func application(_ code: ApplicationCode) -> ATTError {
        ATTError(rawValue: code.rawValue)
    }

    /// The codes 0x80 through 0x9F, which services and profiles define.
    ///
    /// If the code is known only at run time, use `ApplicationCode(rawValue:)`. `ApplicationCode(rawValue:)`
    /// returns `nil` for a code outside the range 0x80 through 0x9F.
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

    /// Whether the code is in the range 0x80 through 0x9F, which services and profiles define.
    public var isApplicationError: Bool {
        (0x80...0x9F).contains(rawValue)
    }
}

// MARK: - Attribute protocol

extension ATTError {
    /// The attribute handle in the request is not valid on the peripheral.
    public static let invalidHandle = ATTError(rawValue: 0x01)

    /// Centrals cannot read the attribute.
    public static let readNotPermitted = ATTError(rawValue: 0x02)

    /// Centrals cannot write the attribute.
    public static let writeNotPermitted = ATTError(rawValue: 0x03)

    /// The request is a malformed attribute protocol data unit (PDU).
    public static let invalidPDU = ATTError(rawValue: 0x04)

    /// The request requires an authenticated link.
    public static let insufficientAuthentication = ATTError(rawValue: 0x05)

    /// The peripheral does not support the request.
    public static let requestNotSupported = ATTError(rawValue: 0x06)

    /// The offset in the request is past the end of the attribute's value.
    public static let invalidOffset = ATTError(rawValue: 0x07)

    /// The central is not authorized to access the attribute.
    public static let insufficientAuthorization = ATTError(rawValue: 0x08)

    /// The queue of prepared writes is full.
    public static let prepareQueueFull = ATTError(rawValue: 0x09)

    /// The requested range of handles contains no matching attribute.
    public static let attributeNotFound = ATTError(rawValue: 0x0A)

    /// The attribute's value cannot be read in parts with Read Blob requests.
    public static let attributeNotLong = ATTError(rawValue: 0x0B)

    /// The encryption key of the link is too short for the request.
    public static let encryptionKeySizeTooShort = ATTError(rawValue: 0x0C)

    /// The length of the written value is not valid for the attribute.
    public static let invalidAttributeValueLength = ATTError(rawValue: 0x0D)

    /// The request failed for a reason that no other error code describes.
    public static let unlikelyError = ATTError(rawValue: 0x0E)

    /// The request requires an encrypted link.
    public static let insufficientEncryption = ATTError(rawValue: 0x0F)

    /// The attribute type in the request is not a grouping attribute type.
    public static let unsupportedGroupType = ATTError(rawValue: 0x10)

    /// The peripheral does not have enough resources for the request.
    public static let insufficientResources = ATTError(rawValue: 0x11)

    /// The attribute database has changed, and the central must discover the attributes again.
    public static let databaseOutOfSync = ATTError(rawValue: 0x12)

    /// The attribute does not allow the written value.
    public static let valueNotAllowed = ATTError(rawValue: 0x13)
}

// MARK: - Common profile and service errors

extension ATTError {
    /// The peripheral refuses the write for a reason that the profile defines.
    public static let writeRequestRejected = ATTError(rawValue: 0xFC)

    /// The procedure requires a different value of the Client Characteristic Configuration descriptor.
    public static let clientCharacteristicConfigurationImproperlyConfigured = ATTError(rawValue: 0xFD)

    /// The peripheral refuses the request, because an earlier procedure is still in progress.
    public static let procedureAlreadyInProgress = ATTError(rawValue: 0xFE)

    /// The value is outside the range that the profile or the service defines.
    public static let outOfRange = ATTError(rawValue: 0xFF)
}

extension ATTError: CustomStringConvertible {
    /// The specification's name for the error, followed by the error code.
    ///
    /// For example, the description of ``readNotPermitted`` is `read not permitted (0x02)`.
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
