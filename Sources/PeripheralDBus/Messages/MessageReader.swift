internal import CPeripheralDBus

/// A reading position in the arguments of a message.
///
/// Each read takes one value of the type that it names and moves on; another type there is a
/// ``BusError/signatureMismatch(expected:found:)``, and the position stays. Nothing is converted that is not asked for.
@safe
package struct MessageReader: ~Copyable {
    private var iterator: DBusMessageIter

    init(_ message: OpaquePointer) {
        unsafe iterator = DBusMessageIter()
        unsafe dbus_message_iter_init(message, &iterator)
    }

    private init(within parent: inout DBusMessageIter) {
        unsafe iterator = DBusMessageIter()
        unsafe dbus_message_iter_recurse(&parent, &iterator)
    }

    /// Whether no value is left here.
    package var isAtEnd: Bool {
        mutating get { typeCode == TypeCode.invalid }
    }

    var typeCode: CInt {
        mutating get { unsafe dbus_message_iter_get_arg_type(&iterator) }
    }

    /// The type of the value here, `""` at the end.
    package var signature: String {
        mutating get {
            guard !isAtEnd, let text = unsafe dbus_message_iter_get_signature(&iterator) else { return "" }
            defer { unsafe dbus_free(text) }
            return unsafe String(cString: text)
        }
    }

    /// Moves past the value here, whatever it is.
    package mutating func skip() {
        unsafe dbus_message_iter_next(&iterator)
    }

    func mismatch(_ expected: StaticString, found: String) -> BusError {
        .signatureMismatch(expected: expected.description, found: found)
    }
}

// MARK: - Basic types

extension MessageReader {
    package mutating func readByte() throws(BusError) -> UInt8 {
        try readBasic(TypeCode.byte, "y", UInt8(0))
    }

    package mutating func readBool() throws(BusError) -> Bool {
        try readBasic(TypeCode.bool, "b", dbus_bool_t(0)) != 0
    }

    package mutating func readInt16() throws(BusError) -> Int16 {
        try readBasic(TypeCode.int16, "n", Int16(0))
    }

    package mutating func readUInt16() throws(BusError) -> UInt16 {
        try readBasic(TypeCode.uint16, "q", UInt16(0))
    }

    package mutating func readInt32() throws(BusError) -> Int32 {
        try readBasic(TypeCode.int32, "i", Int32(0))
    }

    package mutating func readUInt32() throws(BusError) -> UInt32 {
        try readBasic(TypeCode.uint32, "u", UInt32(0))
    }

    package mutating func readInt64() throws(BusError) -> Int64 {
        try readBasic(TypeCode.int64, "x", Int64(0))
    }

    package mutating func readUInt64() throws(BusError) -> UInt64 {
        try readBasic(TypeCode.uint64, "t", UInt64(0))
    }

    package mutating func readDouble() throws(BusError) -> Double {
        try readBasic(TypeCode.double, "d", Double(0))
    }

    package mutating func readString() throws(BusError) -> String {
        unsafe String(cString: try readText(TypeCode.string, "s"))
    }

    package mutating func readObjectPath() throws(BusError) -> ObjectPath {
        unsafe ObjectPath(unchecked: String(cString: try readText(TypeCode.objectPath, "o")))
    }

    package mutating func readSignature() throws(BusError) -> Signature {
        unsafe Signature(unchecked: String(cString: try readText(TypeCode.signature, "g")))
    }

    /// A string without a copy; it is valid as long as the message.
    package mutating func readBorrowedString() throws(BusError) -> BorrowedText {
        unsafe BorrowedText(try readText(TypeCode.string, "s"))
    }

    /// An object path without a copy; it is valid as long as the message.
    package mutating func readBorrowedObjectPath() throws(BusError) -> BorrowedText {
        unsafe BorrowedText(try readText(TypeCode.objectPath, "o"))
    }

    package mutating func readFileDescriptor() throws(BusError) -> OwnedFileDescriptor {
        let descriptor = try readBasic(TypeCode.fileDescriptor, "h", CInt(-1))
        guard descriptor >= 0 else {
            throw BusError.invalidValue("the message carries no such file descriptor")
        }
        return OwnedFileDescriptor(adopting: descriptor)
    }

    private mutating func readBasic<Value: BitwiseCopyable>(
        _ code: CInt,
        _ expected: StaticString,
        _ initial: Value
    ) throws(BusError) -> Value {
        guard typeCode == code else { throw mismatch(expected, found: signature) }
        var value = initial
        unsafe dbus_message_iter_get_basic(&iterator, &value)
        unsafe dbus_message_iter_next(&iterator)
        return value
    }

    private mutating func readText(
        _ code: CInt,
        _ expected: StaticString
    ) throws(BusError) -> UnsafePointer<CChar> {
        guard typeCode == code else { throw mismatch(expected, found: signature) }
        return try unsafe takeText()
    }

    /// The text here, which is known to be one.
    private mutating func takeText() throws(BusError) -> UnsafePointer<CChar> {
        var text: UnsafePointer<CChar>?
        unsafe dbus_message_iter_get_basic(&iterator, &text)
        unsafe dbus_message_iter_next(&iterator)
        guard let text = unsafe text else { throw BusError.invalidValue("the message carries no text here") }
        return unsafe text
    }
}

// MARK: - Containers

extension MessageReader {
    /// The bytes of an `ay`, copied in one piece.
    package mutating func readBytes() throws(BusError) -> [UInt8] {
        guard typeCode == TypeCode.array,
            unsafe dbus_message_iter_get_element_type(&iterator) == TypeCode.byte
        else { throw mismatch("ay", found: signature) }
        var contents = unsafe MessageReader(within: &iterator)
        let bytes = contents.fixedBytes()
        skip()
        return bytes
    }

    /// Reads an array whose elements have the type `element`, one call of `body` per element.
    package mutating func readArray(
        of element: StaticString,
        _ body: (inout MessageReader) throws(BusError) -> Void
    ) throws(BusError) {
        guard typeCode == TypeCode.array, elementSignature == element.description else {
            throw .signatureMismatch(expected: "a\(element)", found: signature)
        }
        var elements = unsafe MessageReader(within: &iterator)
        while !elements.isAtEnd { try body(&elements) }
        skip()
    }

    /// Reads an `a{sv}`: `body` gets each key and a reader at the value inside its variant.
    ///
    /// What `body` leaves unread is skipped.
    package mutating func readProperties(
        _ body: (borrowing BorrowedText, inout MessageReader) throws(BusError) -> Void
    ) throws(BusError) {
        guard typeCode == TypeCode.array,
            unsafe dbus_message_iter_get_element_type(&iterator) == TypeCode.dictionaryEntry
        else { throw mismatch("a{sv}", found: signature) }
        var entries = unsafe MessageReader(within: &iterator)
        var isChecked = false
        while !entries.isAtEnd {
            var entry = unsafe MessageReader(within: &entries.iterator)
            // All entries have the types of the first.
            if !isChecked, entry.typeCode != TypeCode.string { throw mismatch("a{sv}", found: signature) }
            let key = try unsafe BorrowedText(entry.takeText())
            if !isChecked, entry.typeCode != TypeCode.variant { throw mismatch("a{sv}", found: signature) }
            isChecked = true
            var value = unsafe MessageReader(within: &entry.iterator)
            try body(key, &value)
            entries.skip()
        }
        skip()
    }

    /// Reads a variant: `body` gets a reader at the value inside.
    package mutating func readVariant<Result>(
        _ body: (inout MessageReader) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        guard typeCode == TypeCode.variant else { throw mismatch("v", found: signature) }
        let result = try readContents(body)
        return result
    }

    /// Reads what is inside the container here, of whatever kind it is.
    mutating func readContents<Result>(
        _ body: (inout MessageReader) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        var contents = unsafe MessageReader(within: &iterator)
        let result = try body(&contents)
        skip()
        return result
    }

    /// The type of the elements of the array here.
    var elementSignature: String {
        mutating get { String(signature.dropFirst()) }
    }

    var elementTypeCode: CInt {
        mutating get { unsafe dbus_message_iter_get_element_type(&iterator) }
    }

    private mutating func fixedBytes() -> [UInt8] {
        var start: UnsafePointer<UInt8>?
        var count: CInt = 0
        unsafe withUnsafeMutablePointer(to: &start) { start in
            unsafe dbus_message_iter_get_fixed_array(&iterator, start, &count)
        }
        guard let start = unsafe start, count > 0 else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
    }
}
