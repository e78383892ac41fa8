internal import CPeripheralDBus

/// A writing position in a message under construction.
///
/// Appending does not throw. The first value that cannot be sent makes the whole message fail, and
/// ``failure`` contains the reason. Examples are a text with a zero byte and an element of the wrong type.
@safe
package struct MessageWriter: ~Copyable {
    private var iterator: DBusMessageIter
    /// The reason why the message cannot be sent, or `nil`.
    package private(set) var failure: BusError?

    /// Starts at the beginning of a message without arguments.
    init(_ message: OpaquePointer) {
        unsafe iterator = DBusMessageIter()
        unsafe dbus_message_iter_init_append(message, &iterator)
    }

    private init(nested: Void) {
        unsafe iterator = DBusMessageIter()
    }

    mutating func fail(_ error: BusError) {
        if failure == nil { failure = error }
    }
}

// MARK: - Basic types

extension MessageWriter {
    package mutating func append(_ value: UInt8) { appendBasic(TypeCode.byte, value) }
    package mutating func append(_ value: Bool) { appendBasic(TypeCode.bool, dbus_bool_t(value ? 1 : 0)) }
    package mutating func append(_ value: Int16) { appendBasic(TypeCode.int16, value) }
    package mutating func append(_ value: UInt16) { appendBasic(TypeCode.uint16, value) }
    package mutating func append(_ value: Int32) { appendBasic(TypeCode.int32, value) }
    package mutating func append(_ value: UInt32) { appendBasic(TypeCode.uint32, value) }
    package mutating func append(_ value: Int64) { appendBasic(TypeCode.int64, value) }
    package mutating func append(_ value: UInt64) { appendBasic(TypeCode.uint64, value) }
    package mutating func append(_ value: Double) { appendBasic(TypeCode.double, value) }

    package mutating func append(_ text: String) {
        guard !text.utf8.contains(0) else {
            return fail(.invalidValue("a D-Bus string cannot contain a zero byte"))
        }
        appendText(TypeCode.string, text)
    }

    package mutating func append(_ path: ObjectPath) { appendText(TypeCode.objectPath, path.text) }
    package mutating func append(_ signature: Signature) { appendText(TypeCode.signature, signature.text) }

    /// Appends a duplicate of the descriptor.
    ///
    /// The caller keeps its own.
    package mutating func append(fileDescriptor: CInt) {
        guard fileDescriptor >= 0 else { return fail(.invalidValue("the file descriptor is closed")) }
        appendBasic(TypeCode.fileDescriptor, fileDescriptor)
    }

    private mutating func appendBasic<Value: BitwiseCopyable>(_ code: CInt, _ value: Value) {
        guard failure == nil else { return }
        var value = value
        guard unsafe dbus_message_iter_append_basic(&iterator, code, &value) != 0 else {
            return failForSize()
        }
    }

    private mutating func appendText(_ code: CInt, _ text: String) {
        unsafe text.withCString { pointer in unsafe appendBasic(code, pointer) }
    }

    private mutating func failForSize() {
        fail(.limitExceeded("the message cannot become any larger"))
    }
}

// MARK: - Containers

extension MessageWriter {
    /// The largest array that D-Bus allows, in bytes.
    private static var maximumArraySize: Int { 1 << 26 }

    /// Appends an `ay` as a whole.
    package mutating func append(bytes: RawSpan) {
        guard bytes.byteCount <= Self.maximumArraySize else {
            return fail(.limitExceeded("a D-Bus array can contain at most 64 MiB"))
        }
        guard failure == nil else { return }
        var contents = MessageWriter(nested: ())
        guard unsafe dbus_message_iter_open_container(&iterator, TypeCode.array, "y", &contents.iterator) != 0
        else { return failForSize() }
        let isAppended = unsafe bytes.withUnsafeBytes { buffer in
            var start = buffer.baseAddress
            return unsafe buffer.count == 0
                || dbus_message_iter_append_fixed_array(
                    &contents.iterator,
                    TypeCode.byte,
                    &start,
                    CInt(buffer.count)
                ) != 0
        }
        if !isAppended { contents.failForSize() }
        close(&contents)
    }

    /// Appends an `ay` as a whole.
    package mutating func append(bytes: [UInt8]) {
        unsafe append(bytes: bytes.span.bytes)
    }

    /// Appends an array.
    ///
    /// `body` appends its elements, all of the type `element`.
    package mutating func appendArray(of element: Signature, _ body: (inout MessageWriter) -> Void) {
        guard Self.isElement(element.text) else {
            return fail(.signatureMismatch(expected: "the type of one element", found: element.text))
        }
        unsafe element.text.withCString { unsafe append(container: TypeCode.array, of: $0, body) }
    }

    /// Appends the arguments of `PropertiesChanged` for the new value of one property that contains bytes.
    ///
    /// Optimized for frequent use: the bytes are written into the message without conversion.
    package mutating func appendChange(of property: String, of interface: InterfaceName, to bytes: [UInt8]) {
        append(interface.text)
        appendProperties { changed in
            changed.appendProperty(property, .bytes) { $0.append(bytes: bytes) }
        }
        appendArray(of: .string) { _ in }
    }

    /// Appends an `a{sv}`.
    ///
    /// `body` appends its entries with ``appendProperty(_:_:_:)``.
    package mutating func appendProperties(_ body: (inout MessageWriter) -> Void) {
        unsafe append(container: TypeCode.array, of: "{sv}", body)
    }

    /// Appends one entry of an `a{sv}`.
    ///
    /// `body` appends the value, whose type is `signature`.
    package mutating func appendProperty(
        _ key: String,
        _ signature: Signature,
        _ body: (inout MessageWriter) -> Void
    ) {
        appendEntry { entry in
            entry.append(key)
            entry.appendVariant(signature, body)
        }
    }

    /// Appends one entry of a dictionary.
    ///
    /// `body` appends the key and the value.
    package mutating func appendEntry(_ body: (inout MessageWriter) -> Void) {
        unsafe append(container: TypeCode.dictionaryEntry, of: nil, body)
    }

    package mutating func appendStructure(_ body: (inout MessageWriter) -> Void) {
        unsafe append(container: TypeCode.structure, of: nil, body)
    }

    /// Appends a variant.
    ///
    /// `body` appends the one value inside, whose type is `signature`.
    package mutating func appendVariant(_ signature: Signature, _ body: (inout MessageWriter) -> Void) {
        guard signature.isSingle else {
            return fail(.signatureMismatch(expected: "the type of one value", found: signature.text))
        }
        unsafe signature.text.withCString { unsafe append(container: TypeCode.variant, of: $0, body) }
    }

    private mutating func append(
        container code: CInt,
        of contained: UnsafePointer<CChar>?,
        _ body: (inout MessageWriter) -> Void
    ) {
        guard failure == nil else { return }
        var contents = MessageWriter(nested: ())
        guard unsafe dbus_message_iter_open_container(&iterator, code, contained, &contents.iterator) != 0
        else { return failForSize() }
        body(&contents)
        close(&contents)
    }

    private mutating func close(_ contents: inout MessageWriter) {
        if let failure = contents.failure {
            unsafe dbus_message_iter_abandon_container(&iterator, &contents.iterator)
            return fail(failure)
        }
        guard unsafe dbus_message_iter_close_container(&iterator, &contents.iterator) != 0 else {
            return failForSize()
        }
    }

    /// Returns whether this is a single type or a dictionary entry, `{kv}`, as array elements must be.
    ///
    /// D-Bus allows 32 nested arrays. libdbus appends more, but the bus disconnects a program that sends such
    /// a message.
    private static func isElement(_ text: String) -> Bool {
        unsafe "a\(text)".withCString { unsafe dbus_signature_validate_single($0, nil) != 0 }
    }
}
