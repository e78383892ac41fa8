public import PeripheralKit

/// A request that a central writes to the User Control Point characteristic, 0x2A9F.
///
/// The decoder accepts each request that contains at least one byte. A ``UserDataService`` also responds to a
/// request that contains an unknown operation (User Data Service 1.0, section 3.3).
public struct UserControlRequest: Hashable, Sendable {
    /// The requested operation.
    public var operation: UserControlOperation

    /// The parameter of the operation.
    public var parameter: [UInt8]

    /// Creates a request from an operation and a parameter.
    ///
    /// The initializer also accepts requests that the specification does not define.
    public init(operation: UserControlOperation, parameter: [UInt8] = []) {
        self.operation = operation
        self.parameter = parameter
    }

    /// Creates a request that adds a user with a consent code.
    ///
    /// The consent code is 0 through 9999. A central needs the consent code to access the data of the user.
    public static func registerNewUser(consentCode: UInt16) -> UserControlRequest {
        UserControlRequest(operation: .registerNewUser, parameter: consentCode.gattBytes)
    }

    /// Creates a request for access to the data of a user.
    public static func consent(user: UInt8, consentCode: UInt16) -> UserControlRequest {
        UserControlRequest(operation: .consent, parameter: [user] + consentCode.gattBytes)
    }

    /// A request that deletes the data of a user.
    ///
    /// The deleted data belongs to the user who has given consent to the central.
    public static let deleteUserData = UserControlRequest(operation: .deleteUserData)
}

extension UserControlRequest: GATTValue {
    /// Reads the operation and the parameter of a request.
    ///
    /// The parameter contains all bytes after the operation.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        operation = UserControlOperation(rawValue: try reader.read())
        parameter = reader.readRemaining()
    }

    /// Appends the operation and the parameter of the request.
    public func encode(into writer: inout ByteWriter) {
        writer.write(operation.rawValue)
        writer.write(parameter)
    }
}

/// An operation of the User Control Point, identified by an op code.
public struct UserControlOperation: Hashable, Sendable {
    /// The encoded op code.
    public var rawValue: UInt8

    /// Creates an operation.
    ///
    /// The initializer also accepts operations that the specification does not define.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The operation that adds a user.
    public static let registerNewUser = UserControlOperation(rawValue: 0x01)
    /// The operation that requests access to the data of a user.
    public static let consent = UserControlOperation(rawValue: 0x02)
    /// The operation that deletes the data of a user.
    public static let deleteUserData = UserControlOperation(rawValue: 0x03)
}

/// The response that the User Control Point sends as an indication after an operation.
///
/// The User Data Service specification 1.0 defines the response in section 3.3.
public struct UserControlResponse: Hashable, Sendable {
    /// The result of an operation.
    public struct Result: Hashable, Sendable {
        /// The number that represents the result in the encoded response.
        public var rawValue: UInt8

        /// Creates a result.
        ///
        /// The initializer also accepts results that the specification does not define.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The operation succeeded.
        public static let success = Result(rawValue: 0x01)
        /// The service does not support the operation.
        public static let operationNotSupported = Result(rawValue: 0x02)
        /// The parameter of the operation is not valid.
        public static let invalidParameter = Result(rawValue: 0x03)
        /// The operation failed.
        public static let operationFailed = Result(rawValue: 0x04)
        /// The central does not have the user's consent.
        public static let userNotAuthorized = Result(rawValue: 0x05)
    }

    /// The requested operation.
    public var operation: UserControlOperation

    /// The result of the operation.
    public var result: Result

    /// The index of the new user.
    ///
    /// If the operation has added a user, the response contains the index of this user. If the operation has
    /// not added a user, the property is `nil`.
    public var user: UInt8?

    /// Creates a response.
    public init(_ result: Result, to operation: UserControlOperation, user: UInt8? = nil) {
        self.operation = operation
        self.result = result
        self.user = user
    }
}

extension UserControlResponse: GATTValue {
    private static let responseCode: UInt8 = 0x20

    /// Reads a response.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        let code: UInt8 = try reader.read()
        guard code == Self.responseCode else {
            throw .invalidValue("\(code) is not the op code of a response; the op code is 32")
        }
        operation = UserControlOperation(rawValue: try reader.read())
        result = Result(rawValue: try reader.read())
        user = reader.isAtEnd ? nil : try reader.read()
    }

    /// Appends the response as 3 or 4 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write([Self.responseCode, operation.rawValue, result.rawValue])
        if let user { writer.write(user) }
    }
}
