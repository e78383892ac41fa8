internal import PeripheralCore

/// The reason why a write is refused before its handler is called: the bytes are no value of the declared
/// type.
///
/// The error carries what the log says about the write. The log never contains the bytes.
struct UndecodableWrite: ATTErrorConvertible {
    let type: String
    let length: Int
    let error: GATTDecodingError

    var attError: ATTError { error.attError }

    /// The reason without the bytes, which the message about an invalid value may contain.
    var reason: String {
        error.code == .invalidValue ? "the length is possible, but the content is not" : error.message
    }
}

extension GATTValue {
    /// Decodes the bytes that a central has written.
    init(written bytes: [UInt8]) throws(UndecodableWrite) {
        do {
            try self.init(gattBytes: bytes)
        } catch {
            throw UndecodableWrite(type: "\(Self.self)", length: bytes.count, error: error)
        }
    }
}
