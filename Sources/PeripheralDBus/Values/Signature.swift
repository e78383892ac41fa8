internal import CPeripheralDBus

/// The types of a sequence of values, in D-Bus notation: `""`, `"ay"`, `"oa{sv}"`.
package struct Signature: BusText {
    package static let kind = "signature"
    package static let empty = Signature(unchecked: "")
    package static let string = Signature(unchecked: "s")
    package static let bytes = Signature(unchecked: "ay")
    package let text: String

    package init(unchecked text: String) {
        self.text = text
    }

    package static func isValid(_ text: UnsafePointer<CChar>) -> Bool {
        unsafe dbus_signature_validate(text, nil) != 0
    }

    /// Whether this is the signature of exactly one value.
    package var isSingle: Bool {
        unsafe text.withCString { unsafe dbus_signature_validate_single($0, nil) != 0 }
    }

    /// The single types of the signature.
    package var elements: [Signature] {
        var elements: [Signature] = []
        unsafe text.withCString { start in
            guard unsafe start.pointee != 0 else { return }
            var iterator = unsafe DBusSignatureIter()
            unsafe dbus_signature_iter_init(&iterator, start)
            repeat {
                guard let element = unsafe dbus_signature_iter_get_signature(&iterator) else { return }
                unsafe elements.append(Signature(unchecked: String(cString: element)))
                unsafe dbus_free(element)
            } while unsafe dbus_signature_iter_next(&iterator) != 0
        }
        return elements
    }
}

/// The one-letter codes of the D-Bus types, for libdbus.
///
/// The macros of libdbus are casts, which Swift does not import.
enum TypeCode {
    static let invalid: CInt = 0
    static let byte = code("y")
    static let bool = code("b")
    static let int16 = code("n")
    static let uint16 = code("q")
    static let int32 = code("i")
    static let uint32 = code("u")
    static let int64 = code("x")
    static let uint64 = code("t")
    static let double = code("d")
    static let string = code("s")
    static let objectPath = code("o")
    static let signature = code("g")
    static let fileDescriptor = code("h")
    static let array = code("a")
    static let variant = code("v")
    static let structure = code("r")
    static let dictionaryEntry = code("e")

    @inline(__always)
    private static func code(_ letter: Unicode.Scalar) -> CInt {
        CInt(letter.value)
    }
}
