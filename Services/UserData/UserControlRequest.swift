public import PeripheralKit

/// What a central writes to the User Control Point, 0x2A9F (User Data Service 1.0, section 3.3).
///
/// Any request of at least one byte is read: one that nobody knows is answered by a response.
public struct UserControlRequest: Hashable, Sendable {
    /// What is demanded.
    public var operation: UserControlOperation

    /// What it takes.
    public var parameter: [UInt8]

    /// Makes a request of its parts, known to the specification or not.
    public init(operation: UserControlOperation, parameter: [UInt8] = []) {
        self.operation = operation
        self.parameter = parameter
    }

    /// Adds a user, whose data takes this code to see: 0 through 9999.
    public static func registerNewUser(consentCode: UInt16) -> UserControlRequest {
        UserControlRequest(operation: .registerNewUser, parameter: consentCode.gattBytes)
    }

    /// Asks for the data of a user.
    public static func consent(user: UInt8, consentCode: UInt16) -> UserControlRequest {
        UserControlRequest(operation: .consent, parameter: [user] + consentCode.gattBytes)
    }

    /// Deletes the data of the user for whom the central has consent.
    public static let deleteUserData = UserControlRequest(operation: .deleteUserData)
}

extension UserControlRequest: GATTValue {
    /// Reads the operation; the parameter takes up all bytes that are left.
    public init(decoding reader: inout ByteReader) throws(GATTDecodingError) {
        operation = UserControlOperation(rawValue: try reader.read())
        parameter = reader.readRemaining()
    }

    /// Appends operation and parameter.
    public func encode(into writer: inout ByteWriter) {
        writer.write(operation.rawValue)
        writer.write(parameter)
    }
}

/// What a central demands of the User Control Point: its op codes.
public struct UserControlOperation: Hashable, Sendable {
    /// The op code as it is on the air.
    public var rawValue: UInt8

    /// Makes an operation, known to the specification or not.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Add a user.
    public static let registerNewUser = UserControlOperation(rawValue: 0x01)
    /// Ask for the data of a user.
    public static let consent = UserControlOperation(rawValue: 0x02)
    /// Delete the data of a user.
    public static let deleteUserData = UserControlOperation(rawValue: 0x03)
}

/// What the User Control Point indicates when an operation is over (User Data Service 1.0, section 3.3).
public struct UserControlResponse: Hashable, Sendable {
    /// How it has ended.
    public struct Result: Hashable, Sendable {
        /// The response value as it is on the air.
        public var rawValue: UInt8

        /// Makes a result, known to the specification or not.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// It was carried out.
        public static let success = Result(rawValue: 0x01)
        /// The operation is not supported.
        public static let operationNotSupported = Result(rawValue: 0x02)
        /// The parameter makes no sense.
        public static let invalidParameter = Result(rawValue: 0x03)
        /// It failed.
        public static let operationFailed = Result(rawValue: 0x04)
        /// The central has no consent of the user.
        public static let userNotAuthorized = Result(rawValue: 0x05)
    }

    /// What was demanded.
    public var operation: UserControlOperation

    /// How it has ended.
    public var result: Result

    /// The user that was added; `nil` with all other operations.
    public var user: UInt8?

    /// Makes a response.
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
        guard code == Self.responseCode else { throw .invalidValue("\(code) is no response") }
        operation = UserControlOperation(rawValue: try reader.read())
        result = Result(rawValue: try reader.read())
        user = reader.isAtEnd ? nil : try reader.read()
    }

    /// Appends 3 or 4 bytes.
    public func encode(into writer: inout ByteWriter) {
        writer.write([Self.responseCode, operation.rawValue, result.rawValue])
        if let user { writer.write(user) }
    }
}
