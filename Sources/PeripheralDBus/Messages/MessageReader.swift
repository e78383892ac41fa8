internal import CPeripheralDBus

/// A reading position in the arguments of a message.
///
/// Each read method reads one value of a specific type and advances. If the value has another type, it throws
/// ``BusError/signatureMismatch(expected:found:)`` and does not advance. Values are not converted to other
/// types.
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

    /// Whether no value remains.
    package var isAtEnd: Bool {
        mutating get { typeCode == TypeCode.invalid }
    }

    var typeCode: CInt {
        mutating get { unsafe dbus_message_iter_get_arg_type(&iterator) }
    }

    /// The type of the value at this position, or `""` at the end.
    package var signature: String {
        mutating get {
            guard !isAtEnd, let text = unsafe dbus_message_iter_get_signature(&iterator) else { return "" }
            defer { unsafe dbus_free(text) }
            return unsafe String(cString: text)
        }
    }

    /// Skips the value at this position, whatever its type.
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

    /// Reads a string without a copy.
    ///
    /// It is valid as long as the message.
    package mutating func readBorrowedString() throws(BusError) -> BorrowedText {
        unsafe BorrowedText(try readText(TypeCode.string, "s"))
    }

    /// Reads an object path without a copy.
    ///
    /// It is valid as long as the message.
    package mutating func readBorrowedObjectPath() throws(BusError) -> BorrowedText {
        unsafe BorrowedText(try readText(TypeCode.objectPath, "o"))
    }

    package mutating func readFileDescriptor() throws(BusError) -> OwnedFileDescriptor {
        let descriptor = try readBasic(TypeCode.fileDescriptor, "h", CInt(-1))
        guard descriptor >= 0 else {
            throw BusError.invalidValue("the message does not contain the file descriptor")
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

    /// Reads the text at this position, whose type the caller has checked.
    private mutating func takeText() throws(BusError) -> UnsafePointer<CChar> {
        var text: UnsafePointer<CChar>?
        unsafe dbus_message_iter_get_basic(&iterator, &text)
        unsafe dbus_message_iter_next(&iterator)
        guard let text = unsafe text else { throw BusError.invalidValue("the message contains no text here") }
        return unsafe text
    }
}

// MARK: - Containers

extension MessageReader {
    /// Reads the bytes of an `ay` in one copy.
    package mutating func readBytes() throws(BusError) -> [UInt8] {
        guard typeCode == TypeCode.array,
            unsafe dbus_message_iter_get_element_type(&iterator) == TypeCode.byte
        else { throw mismatch("ay", found: signature) }
        var contents = unsafe MessageReader(within: &iterator)
        let bytes = contents.fixedBytes()
        skip()
        return bytes
    }

    /// Reads an array with elements of the type `element`, with one call of `body` per element.
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

    /// Reads an `a{sv}`.
    ///
    /// `body` receives each key and a reader for the value inside its variant.
    ///
    /// A value that `body` does not read is skipped.
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
            // All entries have the types of the first one.
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

    /// Reads a variant.
    ///
    /// `body` receives a reader for the value inside.
    package mutating func readVariant<Result>(
        _ body: (inout MessageReader) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        guard typeCode == TypeCode.variant else { throw mismatch("v", found: signature) }
        let result = try readContents(body)
        return result
    }

    /// Reads the content of the container at this position, of any kind.
    mutating func readContents<Result>(
        _ body: (inout MessageReader) throws(BusError) -> Result
    ) throws(BusError) -> Result {
        var contents = unsafe MessageReader(within: &iterator)
        let result = try body(&contents)
        skip()
        return result
    }

    /// The element type of the array at this position.
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
